internal import Synchronization
internal import TLS

/// What the loops of one server share.
final class ServerShared: Sendable {
    let configuration: WebServerConfiguration
    let handler: any WebHandler
    let clock: WebServerClock
    let observe: @Sendable (WebServed) -> Void
    let mailboxes: [LoopMailbox]
    let tally = Tally()
    /// What new connections show; `nil`: plain text.
    let context: Mutex<TLSContext?>

    init(
        configuration: WebServerConfiguration, handler: any WebHandler, clock: WebServerClock,
        mailboxes: [LoopMailbox], context: TLSContext?, observe: @escaping @Sendable (WebServed) -> Void
    ) {
        self.configuration = configuration
        self.handler = handler
        self.clock = clock
        self.mailboxes = mailboxes
        self.context = Mutex(context)
        self.observe = observe
    }

    /// Counters that any thread may read.
    final class Tally: Sendable {
        let connections = Atomic(0)
        let turningAway = Atomic(0)
        let streams = Atomic(0)
        let parked = Atomic(0)
        let accepted = Atomic(0)
        let turnedAway = Atomic(0)
        let answered = Atomic(0)
        let cutStreams = Atomic(0)
    }

    var counts: WebServerCounts {
        WebServerCounts(
            connections: tally.connections.load(ordering: .relaxed), streams: tally.streams.load(ordering: .relaxed),
            parked: tally.parked.load(ordering: .relaxed), accepted: tally.accepted.load(ordering: .relaxed),
            turnedAway: tally.turnedAway.load(ordering: .relaxed), answered: tally.answered.load(ordering: .relaxed),
            cutStreams: tally.cutStreams.load(ordering: .relaxed))
    }
}

extension Atomic<Int> {
    func increase() { add(1, ordering: .relaxed) }
    func decrease() { subtract(1, ordering: .relaxed) }
}
