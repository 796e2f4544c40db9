import CardRules
import Measuring
import Simulation
import Synchronization

/// Answers for every token, and notes when which phone's push came. Tokens carry their phone's number.
final class ArrivalLog: GatewayBackend {
    private struct State {
        /// By phone, since the last `begin`; 0: nothing.
        var seconds: [Double]
        var accepted = 0
        var refused = 0
    }

    private let state: Mutex<State>
    private let tokens = AnyTokenBackend()

    init(phones: Int) { state = Mutex(State(seconds: [Double](repeating: 0, count: phones))) }

    func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer {
        let answer = tokens.serve(request, by: &model, on: &connection, at: now)
        let time = uptimeSeconds()
        state.withLock { state in
            guard let delivery = answer.delivery, delivery.token.count > 4 else {
                state.refused += 1
                return
            }
            let phone = (0..<4).reduce(0) { $0 | Int(delivery.token[$1]) << (8 * $1) }
            guard state.seconds.indices.contains(phone) else { return }
            state.accepted += 1
            if state.seconds[phone] == 0 { state.seconds[phone] = time }
        }
        return answer
    }

    /// From now on first pushes are noted anew.
    func begin() {
        state.withLock { state in
            for phone in state.seconds.indices { state.seconds[phone] = 0 }
            (state.accepted, state.refused) = (0, 0)
        }
    }

    var accepted: Int { state.withLock { $0.accepted } }
    var refused: Int { state.withLock { $0.refused } }

    /// Phones that had one, with its time.
    var arrivals: [Double] { state.withLock { $0.seconds.filter { $0 > 0 } } }

    /// 80 bytes, random but for the number.
    static func token(phone: Int, kind: UInt8) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(phone) << 8 | UInt64(kind))
        var token = random.bytes(80)
        for place in 0..<4 { token[place] = UInt8(truncatingIfNeeded: phone >> (8 * place)) }
        return token
    }
}
