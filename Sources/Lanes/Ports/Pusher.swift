public import CardRules
public import PushWire

/// What the lanes need of whoever talks to APNs.
public protocol Pusher: Sendable {
    /// Takes a batch. Every push taken ends in exactly one verdict, given to its sink, in batches. Never blocks.
    ///
    /// G7, when the pool is full: an update ends as `notSent`; a start or an end is not taken. The caller keeps it and
    /// offers it again when the sink is told `mayOffer`.
    /// - Returns: the pushes not taken, in their order; mostly none.
    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush]

    /// Nothing more leaves for that gateway until `resume`; what waits goes on waiting and is not lost. Repeated calls
    /// change nothing.
    func pause(_ gateway: Gateway)
    func resume(_ gateway: Gateway)
}

extension Pusher {
    /// For pushers that an operator cannot stop.
    public func pause(_ gateway: Gateway) {}
    public func resume(_ gateway: Gateway) {}
}

/// One push on its way, with what brings its verdict home.
public struct OutgoingPush: Sendable {
    public let request: PushRequest
    public let ticket: PushTicket
    public let sink: any VerdictSink
    /// G8: a push to exactly this address was accepted before. One that never was shares no connection with those.
    public let isConfirmed: Bool
    /// G7: a start that replaces a card about to expire goes with the ends, before other starts.
    public let isReissue: Bool

    public init(
        request: PushRequest, ticket: PushTicket, sink: any VerdictSink, isConfirmed: Bool = false,
        isReissue: Bool = false
    ) {
        self.request = request
        self.ticket = ticket
        self.sink = sink
        self.isConfirmed = isConfirmed
        self.isReissue = isReissue
    }
}

/// Names one push: whose it was, and of which incarnation of the lane.
public struct PushTicket: Hashable, Sendable {
    public let device: DeviceID
    public let generation: Generation
    public let number: PushNumber

    public init(device: DeviceID, generation: Generation, number: PushNumber) {
        self.device = device
        self.generation = generation
        self.number = number
    }
}

public struct PushAnswer: Hashable, Sendable {
    public let ticket: PushTicket
    public let verdict: Verdict

    public init(ticket: PushTicket, verdict: Verdict) {
        self.ticket = ticket
        self.verdict = verdict
    }
}

/// Where verdicts come home. Called from a thread of the pool's own; must not block.
public protocol VerdictSink: AnyObject, Sendable {
    func take(_ answers: [PushAnswer])
    /// A pusher that did not take all it was offered has room again.
    func mayOffer()
}

extension VerdictSink {
    /// For sinks that never have to wait.
    public func mayOffer() {}
}
