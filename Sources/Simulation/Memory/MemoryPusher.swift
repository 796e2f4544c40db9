import CardRules
public import Lanes
import PushWire
import Synchronization

/// The pusher port without a wire: both gateways in memory, the same model and the same phones as over TLS.
/// Answers on the caller's stack.
public final class MemoryPusher: Pusher {
    private struct Side {
        var model: GatewayModel
        var connection: GatewayConnection
    }

    private let sides: Mutex<[Gateway: Side]>
    private let fleet: PhoneFleet
    private let clock: any WallClock

    public init(fleet: PhoneFleet, clock: any WallClock, options: GatewayOptions = GatewayOptions(), seed: UInt64) {
        var sides: [Gateway: Side] = [:]
        for gateway in Gateway.allCases {
            var model = GatewayModel(gateway: gateway, options: options, seed: seed)
            let connection = model.openConnection()
            sides[gateway] = Side(model: model, connection: connection)
        }
        self.sides = Mutex(sides)
        self.fleet = fleet
        self.clock = clock
    }

    public func send(_ pushes: [OutgoingPush]) {
        for push in pushes {
            let verdict = answer(to: push.request)
            push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)])
        }
    }

    private func answer(to request: PushRequest) -> Verdict {
        let claims = ProviderTokenClaims(
            keyID: "KEY1234567", teamID: "TEAM123456", issuedAt: clock.now.unixSeconds / 1800 * 1800)
        // Well formed, signed by nobody: the gateway in memory is given no keys.
        guard let token = try? claims.signed(by: { _ in [UInt8](repeating: 0, count: 64) }) else { return .notSent }
        var path = ""
        var fields: [GatewayHeader] = []
        for field in headers(of: request, providerToken: token, authority: Array("gateway".utf8)) {
            let (name, value) = (field.name.description, String(decoding: field.value, as: UTF8.self))
            if name == ":path" { path = value }
            if !name.hasPrefix(":") { fields.append(GatewayHeader(name, value)) }
        }
        let wire = GatewayRequest(method: "POST", path: path, headers: fields, body: request.payload)
        return sides.withLock { sides in
            guard var side = sides[request.address.gateway] else { return .notSent }
            let answer = fleet.serve(
                wire, by: &side.model, on: &side.connection, at: clock.now, answerArrives: true)
            sides[request.address.gateway] = side
            return verdict(status: answer.status, body: answer.body)
        }
    }
}
