import CardRules
import Lanes
import PushWire
import Synchronization

/// A pusher that keeps what it was given and answers as the test says.
final class ScriptedPusher: Pusher {
    private struct State {
        var pushes: [OutgoingPush] = []
        var waiting: [OutgoingPush] = []
        var answer: Verdict? = .accepted
    }

    private let state = Mutex(State())

    /// Every push ever handed over, in order.
    var pushes: [PushRequest] { state.withLock { $0.pushes.map(\.request) } }
    var starts: [PushRequest] { pushes.filter { $0.event == .start } }
    var updates: [PushRequest] { pushes.filter { $0.event == .update } }
    var ends: [PushRequest] { pushes.filter { $0.event == .end } }
    /// Handed over and not answered.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// What every push is answered with at once; `nil`: nothing, until `answerAll`.
    func answers(with verdict: Verdict?) { state.withLock { $0.answer = verdict } }

    func send(_ pushes: [OutgoingPush]) {
        let verdict = state.withLock { state in
            state.pushes += pushes
            if state.answer == nil { state.waiting += pushes }
            return state.answer
        }
        guard let verdict else { return }
        for push in pushes { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
    }

    /// Answers what waits, one at a time, in the order that `random` draws.
    func answerAll(with verdict: Verdict, random: inout TestGenerator) {
        var waiting = state.withLock { state in
            let all = state.waiting
            state.waiting = []
            return all
        }
        waiting.shuffle(using: &random)
        for push in waiting { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
    }
}

extension PushRequest {
    /// `aps.timestamp`, read from the payload.
    var timestamp: Int64? {
        let text = String(decoding: payload, as: UTF8.self)
        guard let range = text.firstRange(of: "\"timestamp\":") else { return nil }
        return Int64(text[range.upperBound...].prefix { $0.isNumber })
    }
}
