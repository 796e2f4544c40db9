import CardRules
import Simulation
import Synchronization

/// Stands at the gateway, before the phones: counts what arrives, and lets a test strike at exactly one push.
final class Witness: GatewayBackend {
    enum Event: String, CaseIterable, Sendable { case start, update, end }

    private let fleet: PhoneFleet
    private let state = Mutex(State())

    private struct State {
        var accepted: [Event: Int] = [:]
        var strike: Strike?
    }

    private struct Strike {
        let event: Event
        var left: Int
        let then: @Sendable () -> Void
    }

    init(_ fleet: PhoneFleet) { self.fleet = fleet }

    /// Pushes that the gateway has accepted, of all programs that have run.
    func accepted(_ event: Event) -> Int { state.withLock { $0.accepted[event, default: 0] } }

    /// When so many more of these have reached their phones, and before the last of them is answered. Called on the
    /// gateway's thread.
    func strike(afterNext count: Int, _ event: Event, _ then: @escaping @Sendable () -> Void) {
        state.withLock { $0.strike = Strike(event: event, left: count, then: then) }
    }

    /// - Returns: whether it had not struck yet.
    @discardableResult
    func callOff() -> Bool {
        state.withLock { state in
            defer { state.strike = nil }
            return state.strike != nil
        }
    }

    func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer {
        let answer = fleet.serve(request, by: &model, on: &connection, at: now)
        guard answer.status == 200, let event = Event.allCases.first(where: { request.body.names($0) }) else {
            return answer
        }
        let then = state.withLock { state -> (@Sendable () -> Void)? in
            state.accepted[event, default: 0] += 1
            guard state.strike?.event == event else { return nil }
            state.strike?.left -= 1
            guard state.strike?.left == 0 else { return nil }
            defer { state.strike = nil }
            return state.strike?.then
        }
        then?()
        return answer
    }
}

extension [UInt8] {
    /// The `event` of a payload; ours come first in it.
    fileprivate func names(_ event: Witness.Event) -> Bool {
        let wanted = Array("\"event\":\"\(event.rawValue)\"".utf8)
        return firstRange(of: wanted) != nil
    }
}
