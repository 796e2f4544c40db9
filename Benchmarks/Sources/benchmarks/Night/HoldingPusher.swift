import CardRules
import Lanes
import Measuring
import PushWire
import Synchronization

/// Takes pushes as the pool does, at once and into a list, and answers when it is told to: what follows from answers is not
/// mixed with what is measured.
final class HoldingPusher: Pusher {
    private struct State {
        var waiting: [OutgoingPush] = []
        var isHolding = false
        var starts = 0
        var taken = 0
        var expected = Int.max
        var whenAllCame: (@Sendable (Usage) -> Void)?
    }

    private let state = Mutex(State())

    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        let call = state.withLock { state -> (@Sendable (Usage) -> Void)? in
            state.waiting += pushes
            state.taken += pushes.count
            state.starts += pushes.count { $0.request.event == .start }
            guard state.isHolding else { return nil }
            guard state.waiting.count >= state.expected else { return nil }
            defer { state.whenAllCame = nil }
            return state.whenAllCame
        }
        call?(.now)
        if !state.withLock({ $0.isHolding }) { answer() }
        return []
    }

    /// From now on nothing is answered.
    /// - Parameter whenAllCame: called once so many have been handed over; at once for none.
    func hold(expecting count: Int, whenAllCame: @escaping @Sendable (Usage) -> Void) {
        state.withLock { state in
            state.isHolding = true
            state.expected = count
            state.whenAllCame = count > 0 ? whenAllCame : nil
        }
        if count == 0 { whenAllCame(.now) }
    }

    /// Every push is accepted, those held and those to come.
    /// - Returns: how many were held.
    @discardableResult
    func release() -> Int {
        let count = state.withLock { state in
            state.isHolding = false
            return state.waiting.count
        }
        answer()
        return count
    }

    /// Handed over so far.
    var starts: Int { state.withLock { $0.starts } }
    /// The same, of whatever kind.
    var taken: Int { state.withLock { $0.taken } }

    var held: Int { state.withLock { $0.waiting.count } }

    private func answer() {
        let pushes = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        var first = 0
        while first < pushes.count {
            let sink = pushes[first].sink
            var last = first
            while last < pushes.count, pushes[last].sink === sink, last - first < 256 { last += 1 }
            sink.take(pushes[first..<last].map { PushAnswer(ticket: $0.ticket, verdict: .accepted) })
            first = last
        }
    }
}
