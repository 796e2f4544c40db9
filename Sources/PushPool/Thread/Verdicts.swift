internal import CardRules
internal import Lanes

/// Gathers verdicts by the sink they belong to: one call a sink and turn.
struct Verdicts {
    private(set) var count = 0
    private var batches: [(sink: any VerdictSink, answers: [PushAnswer])] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// Of the sink that was last given one: mostly the next one's too.
    private var last: (sink: ObjectIdentifier, place: Int)?

    mutating func add(_ verdict: Verdict, for ticket: PushTicket, to home: any VerdictSink) {
        count += 1
        let sink = ObjectIdentifier(home)
        let answer = PushAnswer(ticket: ticket, verdict: verdict)
        if let last, last.sink == sink {
            batches[last.place].answers.append(answer)
        } else {
            let place = places[sink] ?? batches.count
            if place == batches.count {
                batches.append((home, []))
                places[sink] = place
            }
            batches[place].answers.append(answer)
            last = (sink, place)
        }
    }

    /// Hands all out and begins anew.
    mutating func deliver() {
        guard count > 0 else { return }
        let batches = batches
        self = Verdicts()
        for batch in batches { batch.sink.take(batch.answers) }
    }
}
