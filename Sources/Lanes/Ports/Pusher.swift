public import CardRules
public import PushWire

/// What the lanes need of whoever talks to APNs.
public protocol Pusher: Sendable {
    /// Takes a batch. Every push ends in exactly one verdict, given to the sink of its ticket's shard, in batches.
    /// Never blocks. A push that finds the pool full ends as `notSent`.
    func send(_ pushes: [OutgoingPush])
}

/// One push on its way, with what brings its verdict home.
public struct OutgoingPush: Sendable {
    public let request: PushRequest
    public let ticket: PushTicket
    public let sink: any VerdictSink

    public init(request: PushRequest, ticket: PushTicket, sink: any VerdictSink) {
        self.request = request
        self.ticket = ticket
        self.sink = sink
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
}
