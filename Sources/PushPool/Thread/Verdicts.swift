internal import CardRules
internal import Lanes

/// Gathers verdicts by the sink they belong to: one call a sink and turn.
struct Verdicts {
    private(set) var count = 0
    private var bySink: [ObjectIdentifier: (sink: any VerdictSink, answers: [PushAnswer])] = [:]

    mutating func add(_ verdict: Verdict, for push: OutgoingPush) {
        count += 1
        bySink[ObjectIdentifier(push.sink), default: (push.sink, [])].answers
            .append(PushAnswer(ticket: push.ticket, verdict: verdict))
    }

    /// Hands all out and begins anew.
    mutating func deliver() {
        guard count > 0 else { return }
        let batches = bySink.values
        self = Verdicts()
        for batch in batches { batch.sink.take(batch.answers) }
    }
}
