public import CardRules

/// Something from outside for one device, on its way to its lane.
public struct DeviceCall: Sendable {
    public let device: DeviceID
    /// With `registered`: the app that the device is said to be of. A new device may go without where one app is served.
    public let app: AppID?
    public let event: LaneEvent
    /// Called exactly once, when the outcome is durable or can no longer be; from a thread of the system's own.
    let hear: (@Sendable (DeviceReply) -> Void)?
    /// It was posted, by whatever node: that it was applied is written with what it changed.
    let post: Post?
    /// What other nodes know has been asked: what is not known now does not exist.
    var isLookedUp = false

    struct Post: Hashable, Sendable {
        let id: PostID
        let epoch: Int64
    }

    /// - Parameter reply: called exactly once, when the outcome is durable or can no longer be; from a thread of the
    ///   system's own.
    public init(
        device: DeviceID, app: AppID? = nil, event: LaneEvent, reply: (@Sendable (DeviceAnswer) -> Void)? = nil
    ) {
        self.device = device
        self.app = app
        self.event = event
        hear = reply.map { reply in { @Sendable in reply($0.answer) } }
        post = nil
    }

    /// The same, with what the phone's app should be told besides.
    public init(
        _ event: LaneEvent, for device: DeviceID, app: AppID? = nil, hear: (@Sendable (DeviceReply) -> Void)?
    ) {
        self.device = device
        self.app = app
        self.event = event
        self.hear = hear
        post = nil
    }

    init(_ event: LaneEvent, of received: ReceivedPost) {
        device = received.event.device
        app = received.event.app
        self.event = event
        hear = nil
        post = Post(id: received.id, epoch: received.epoch)
    }

    func reply(_ answer: DeviceAnswer, needsToken: Bool = false) {
        hear?(DeviceReply(answer: answer, needsToken: needsToken))
    }
}

/// What became of a call, and what its app should be told besides.
public struct DeviceReply: Hashable, Sendable {
    public let answer: DeviceAnswer
    /// S14: the header `Lanekeeper-Needs: push-to-start-token`. False where the lane was not reached.
    public let needsToken: Bool

    public init(answer: DeviceAnswer, needsToken: Bool) {
        self.answer = answer
        self.needsToken = needsToken
    }
}

/// What became of a call.
public enum DeviceAnswer: Hashable, Sendable {
    /// Applied, and durable.
    case done
    /// No such device.
    case unknownDevice
    /// The card's key is no session that is known (404).
    case unknownCard
    /// The selection was older than the one held (409).
    case staleSelection(held: WallTime)
    /// It belongs to another app than the call says (409); as long as it owes cards their ends, also after its removal.
    case otherApp(held: AppID)
    /// The store cannot write now: try again (503).
    case unavailable
    /// More waits than may: try again (503).
    case overloaded
}
