public import CardRules
internal import Synchronization

/// Answers for a gateway that stands alone: every token is live for whichever bundle the push names, save those told
/// otherwise, and a desk keeps what phones cannot take now. Safe from any thread.
public final class DeskBackend: GatewayBackend {
    private let state: Mutex<State>

    private struct State: Sendable {
        var desk: DeliveryDesk
        /// Tokens that are not known (true) or dead since then.
        var unknown: Set<[UInt8]> = []
        var dead: [[UInt8]: WallTime] = [:]
    }

    public init(options: DeliveryDesk.Options = DeliveryDesk.Options(), seed: UInt64) {
        state = Mutex(State(desk: DeliveryDesk(options: options, seed: seed)))
    }

    public func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer {
        let topic = request.headers.first { $0.name == "apns-topic" }?.value ?? ""
        let bundleID = bundleID(ofTopic: topic)
        let answer = model.answer(request, on: &connection, at: now) { token in
            state.withLock { state in
                if state.unknown.contains(token) { return .unknown }
                if let since = state.dead[token] { return .dead(bundleID: bundleID, since: since, kind: .update) }
                return .live(bundleID: bundleID)
            }
        }
        if let delivery = answer.delivery {
            state.withLock { state in
                _ = state.desk.run(until: now)
                for _ in 0..<answer.copies { _ = state.desk.take(delivery, uniqueID: answer.uniqueID, at: now) }
            }
        }
        return answer
    }

    public func withDesk<Result: Sendable>(_ body: (inout DeliveryDesk) -> Result) -> Result {
        state.withLock { body(&$0.desk) }
    }

    /// G3: `BadDeviceToken` from now on, on both gateways; or no longer.
    public func setUnknown(_ isUnknown: Bool, _ token: [UInt8]) {
        state.withLock { state in
            if isUnknown { state.unknown.insert(token) } else { state.unknown.remove(token) }
        }
    }

    /// G13: dead since then, or alive again.
    public func setDead(since: WallTime?, _ token: [UInt8]) { state.withLock { $0.dead[token] = since } }
}
