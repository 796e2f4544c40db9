import CardRules
import Lanes
import PushWire
import Synchronization

/// A pusher that does what a test tells it: answers at once with a verdict, or keeps pushes until it is told.
final class AnsweringPusher: Pusher {
    private struct State {
        var sent: [OutgoingPush] = []
        var open: [OutgoingPush] = []
        var mostStartsOpen = 0
        /// `nil`: pushes wait to be answered.
        var verdict: Verdict? = .accepted
        /// Starts and ends are handed back (G7).
        var isFull = false
        var turnedAway = 0
        var waiting: [ObjectIdentifier: any VerdictSink] = [:]
    }

    private let state = Mutex(State())

    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        let (verdict, taken, back) = state.withLock { state in
            let back = state.isFull ? pushes.filter { $0.request.event != .update } : []
            let taken = state.isFull ? pushes.filter { $0.request.event == .update } : pushes
            state.turnedAway += back.count
            for push in back { state.waiting[ObjectIdentifier(push.sink)] = push.sink }
            state.sent += taken
            if state.verdict == nil { state.open += taken }
            state.mostStartsOpen = max(state.mostStartsOpen, state.open.count { $0.request.event == .start })
            return (state.verdict, taken, back)
        }
        guard let verdict else { return back }
        for push in taken { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
        return back
    }

    /// From now on starts and ends find no room.
    func fill() { state.withLock { $0.isFull = true } }

    func makeRoom() {
        let sinks = state.withLock { state in
            state.isFull = false
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for sink in sinks { sink.mayOffer() }
    }

    var turnedAway: Int { state.withLock { $0.turnedAway } }

    /// Answers what waits, in the order of sending or as `order` has it. What comes later waits as before.
    func answer(_ verdict: Verdict, inOrder order: ([OutgoingPush]) -> [OutgoingPush] = { $0 }) {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for push in order(open) { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
    }

    /// From now on every push is answered so; `nil`: pushes wait.
    func script(_ verdict: Verdict?) { state.withLock { $0.verdict = verdict } }

    /// What waits is never answered: its process is gone.
    func crash() { state.withLock { $0.open = [] } }

    var sent: [OutgoingPush] { state.withLock { $0.sent } }
    var open: Int { state.withLock { $0.open.count } }
    var mostStartsOpen: Int { state.withLock { $0.mostStartsOpen } }

    func sent(_ event: PushEvent, to device: DeviceID? = nil) -> [OutgoingPush] {
        sent.filter { $0.request.event == event && (device == nil || $0.ticket.device == device) }
    }

    var starts: Int { sent(.start).count }
}

extension OutgoingPush {
    var text: String { String(decoding: request.payload, as: UTF8.self) }

    /// `aps.timestamp`.
    var timestamp: Int64? {
        guard let range = text.firstRange(of: #""timestamp":"#) else { return nil }
        return Int64(text[range.upperBound...].prefix { $0.isNumber })
    }
}
