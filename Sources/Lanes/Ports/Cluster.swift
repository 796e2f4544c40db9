public import CardRules

/// What a node needs of the other nodes of its cluster. A system without one owns every partition.
///
/// All calls may come from any thread; none blocks the caller.
public protocol Cluster: Sendable {
    /// One reader.
    var events: AsyncStream<ClusterEvent> { get }

    /// Takes part until the task is cancelled, or the node has left.
    /// - Parameter followsTimeline: whether somebody does now: then news of timelines are wanted.
    func run(followsTimeline: @escaping @Sendable () -> Bool) async

    /// Fencing protects the store, not APNs: once this is false nothing may leave, also where no commit is needed. While it
    /// is true nobody else acts for what is held here, as far as this node's own time can tell: what it cannot tell is that
    /// its lease was taken from it by hand, or by another node of its name while it was cut off.
    var mayAct: Bool { get }

    /// The partitions whose records this node can write, as far as is known, with the epoch of its lease.
    var held: [Int: Int64] { get }

    /// Its lanes are being loaded, or run: what other nodes took for its devices is wanted (`ClusterEvent.posted`).
    func listen(to partition: Int, epoch: Int64)

    /// Nothing of that tenure is under way any more: another node may have it at once. Of an earlier one: nothing happens.
    func release(_ partition: Int, epoch: Int64)

    /// Takes no more partitions: this node is about to go. What it holds it keeps until it releases it.
    func retire()

    /// Makes an event durable for whichever node owns its device now or next.
    /// - Parameter hear: called exactly once: with the owner's answer; where that does not come in time with `done`, for
    ///   it is durable; with `unavailable` where it could not be made so. `nil`: it is tried until it is.
    func post(_ event: PostedEvent, hear: (@Sendable (DeviceReply) -> Void)?)

    /// What was posted and has been applied is durable: whoever waits for its answer can be told.
    func applied(_ posts: [PostID])

    /// They could not be applied now, and are to be read again in a while.
    func postponed(_ posts: [PostID])

    /// Tells the other nodes that there is something to read.
    func announce(_ news: ClusterNews)

    /// What was not read by then, of the slate.
    /// - Throws: `StoreError`.
    func slate(after number: Int64) async throws -> [NumberedLine]

    /// Sessions that changed after that change, in its order.
    /// - Throws: `StoreError`.
    func sessions(changedAfter change: Int64) async throws -> [ChangedSession]

    /// S7: the device is the phone's owner from now on, by the one row of that token.
    /// - Parameter hear: called once it is durable, with the record that owned it and has not handed over; `nil`: there is
    ///   none. Not called where the device's partition is not ours any more.
    func claimPhone(_ token: [UInt8], for device: DeviceID, hear: @escaping @Sendable (DeviceID?) -> Void)

    /// S7: the older record has handed over; nobody waits for it any more.
    func handedOver(_ token: [UInt8], by older: DeviceID)

    /// Whether something was posted for a device and is not applied yet.
    /// - Throws: `StoreError`.
    func isAwaited(_ device: DeviceID) async throws -> Bool
}

/// What a node is told.
public enum ClusterEvent: Sendable {
    /// The partition is ours: its lanes are as its last owner left them.
    case gained(partition: Int, epoch: Int64)
    /// Another node should have it: bring its lanes to rest, then `release` it.
    case asked(partition: Int)
    /// They are not ours any more, or may not be: nothing of theirs may leave.
    case lost(partitions: [Int])
    /// There may be something to read. Comes after each reconnection too.
    case news(ClusterNews)
    /// What was posted for devices of partitions that are listened to.
    case posted([ReceivedPost])
}

/// What there is to read. Any number of changes make one piece of news.
public struct ClusterNews: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let slate = ClusterNews(rawValue: 1)
    public static let sessions = ClusterNews(rawValue: 2)
    public static let pauses = ClusterNews(rawValue: 4)
    /// Comes only while somebody follows a timeline (`Supervisor.hub`).
    public static let timeline = ClusterNews(rawValue: 8)
}

/// An event for the owner of a device.
public struct PostedEvent: Sendable {
    public let device: DeviceID
    /// As `DeviceCall.app`.
    public let app: AppID?
    public let content: Content

    public enum Content: Sendable {
        /// Never `session`, nor what only this node can know: `tick`, `look`, `verdict`, `retuned`.
        case event(LaneEvent)
        /// That session, as it is where this is read. `as`: S7, the record of this phone that it names, where that is
        /// another one.
        case session(CardKey, as: DeviceID?)
    }

    public init(device: DeviceID, app: AppID?, content: Content) {
        self.device = device
        self.app = app
        self.content = content
    }
}

/// Names one posted event for good: whose it is, and that poster's own number.
public struct PostID: Hashable, Sendable {
    public let partition: Int
    public let origin: Int64
    public let number: Int64

    public init(partition: Int, origin: Int64, number: Int64) {
        self.partition = partition
        self.origin = origin
        self.number = number
    }
}

/// A posted event as its owner gets it.
public struct ReceivedPost: Sendable {
    public let id: PostID
    /// Of the partition, as this node had it when it was read.
    public let epoch: Int64
    public let event: PostedEvent

    public init(id: PostID, epoch: Int64, event: PostedEvent) {
        self.id = id
        self.epoch = epoch
        self.event = event
    }
}

/// A posted event that was applied, written with the record that it changed, with the answer to whoever posted it.
public struct AppliedPost: Hashable, Sendable {
    public let id: PostID
    public let reply: DeviceReply

    public init(id: PostID, reply: DeviceReply) {
        self.id = id
        self.reply = reply
    }
}

/// A line of the slate with its place in the one order in which every node applies them.
public struct NumberedLine: Hashable, Sendable {
    public let number: Int64
    /// Of its batch (`CommitBatch.slateTag`).
    public let tag: Int64
    public let arrived: ArrivedLine

    public init(number: Int64, tag: Int64, arrived: ArrivedLine) {
        self.number = number
        self.tag = tag
        self.arrived = arrived
    }
}

/// A session with the number of its newest change.
public struct ChangedSession: Sendable {
    public let change: Int64
    public let session: Session

    public init(change: Int64, session: Session) {
        self.change = change
        self.session = session
    }
}
