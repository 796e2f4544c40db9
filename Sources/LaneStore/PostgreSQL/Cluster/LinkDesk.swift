internal import CardRules
internal import Lanes

/// What a node has to say to the others, and what it waits for. Pure: the thread carries it out.
struct LinkDesk {
    struct Post: Sendable {
        let id: PostID
        let device: DeviceID
        let body: [UInt8]
    }

    struct Claim: Sendable {
        let token: [UInt8]
        let device: DeviceID
        let epoch: Int64
        let hear: @Sendable (DeviceID?) -> Void
    }

    struct HandedOver: Hashable, Sendable {
        let token: [UInt8]
        let older: DeviceID
    }

    /// One round trip's worth.
    struct Batch: Sendable {
        var posts: [Post] = []
        var claims: [Claim] = []
        var handedOver: [HandedOver] = []
        /// Of our own posts, those whose answers were taken.
        var finished: [Int64] = []
        /// Words of a notification.
        var words: [String] = []

        var isEmpty: Bool {
            posts.isEmpty && claims.isEmpty && handedOver.isEmpty && finished.isEmpty && words.isEmpty
        }
    }

    private struct Waiting: Sendable {
        let hear: @Sendable (DeviceReply) -> Void
        let since: SteadyTime
        var isDurable = false
    }

    /// Posts with somebody waiting; above, callers are told to try again.
    static let heldAtMost = 20_000
    static let batch = 1000

    let origin: Int64
    private var nextNumber: Int64 = 1
    private var posts: [Post] = []
    private var claims: [Claim] = []
    private var handedOver: [HandedOver] = []
    private var finished: [Int64] = []
    private var waiting: [Int64: Waiting] = [:]
    private var answered: Set<Int64> = []
    private var news: ClusterNews = []
    private(set) var watched: [Int: Int64] = [:]
    private var inHand: Set<PostID> = []
    /// Applied while a read of the inbox is under way, which may show them as they were before; `nil`: none is.
    private var appliedSinceRead: Set<PostID>?
    /// While no connection stands callers are not kept waiting.
    private(set) var isAway = true

    init(origin: Int64) { self.origin = origin }

    // MARK: - From this node

    /// - Returns: why it was not taken.
    mutating func post(
        _ device: DeviceID, _ body: [UInt8], at now: SteadyTime, hear: (@Sendable (DeviceReply) -> Void)?
    ) -> DeviceAnswer? {
        if hear != nil, isAway { return .unavailable }
        if hear != nil, waiting.count >= Self.heldAtMost { return .overloaded }
        let id = PostID(partition: partition(of: device), origin: origin, number: nextNumber)
        nextNumber += 1
        posts.append(Post(id: id, device: device, body: body))
        if let hear { waiting[id.number] = Waiting(hear: hear, since: now) }
        return nil
    }

    mutating func claim(_ claim: Claim) { claims.append(claim) }

    mutating func handedOver(_ token: [UInt8], by older: DeviceID) {
        handedOver.append(HandedOver(token: token, older: older))
    }

    mutating func announce(_ news: ClusterNews) { self.news.formUnion(news) }

    mutating func applied(_ posts: [PostID]) {
        inHand.subtract(posts)
        appliedSinceRead?.formUnion(posts)
        for post in posts { answered.insert(post.origin) }
    }

    mutating func postponed(_ posts: [PostID]) { inHand.subtract(posts) }

    mutating func watch(_ partition: Int, epoch: Int64) {
        watched[partition] = epoch
        forget(partition)
    }

    /// - Parameter epoch: of that tenure alone; `nil`: of any.
    mutating func unwatch(_ partition: Int, epoch: Int64? = nil) {
        guard epoch == nil || watched[partition] == epoch else { return }
        watched[partition] = nil
        forget(partition)
    }

    private mutating func forget(_ partition: Int) { inHand = inHand.filter { $0.partition != partition } }

    // MARK: - For the thread

    mutating func connected() { isAway = false }

    /// - Returns: whom to tell that nothing can be kept: what they posted was not.
    mutating func disconnected() -> [@Sendable (DeviceReply) -> Void] {
        isAway = true
        appliedSinceRead = nil
        let gone = waiting.filter { !$0.value.isDurable }
        posts.removeAll { gone[$0.id.number] != nil }
        for number in gone.keys { waiting[number] = nil }
        return gone.values.map(\.hear)
    }

    /// One claim a token at a time: two in one statement are an error (21000).
    func next() -> Batch {
        var batch = Batch()
        batch.posts = Array(posts.prefix(Self.batch))
        var tokens: Set<[UInt8]> = []
        for claim in claims.prefix(Self.batch) {
            // The order of two for one token is the order of their reports.
            guard tokens.insert(claim.token).inserted else { break }
            batch.claims.append(claim)
        }
        batch.handedOver = Array(handedOver.prefix(Self.batch))
        batch.finished = Array(finished.prefix(Self.batch))
        if !batch.posts.isEmpty { batch.words.append(LinkWord.inbox) }
        if news.contains(.slate) { batch.words.append(LinkWord.slate) }
        if news.contains(.sessions) { batch.words.append(LinkWord.sessions) }
        if news.contains(.pauses) { batch.words.append(LinkWord.pauses) }
        batch.words += answered.sorted().prefix(200).map { LinkWord.answers(for: $0) }
        return batch
    }

    /// The batch is durable.
    mutating func landed(_ batch: Batch) {
        posts.removeFirst(batch.posts.count)
        claims.removeFirst(batch.claims.count)
        handedOver.removeFirst(batch.handedOver.count)
        finished.removeFirst(batch.finished.count)
        for post in batch.posts { waiting[post.id.number]?.isDurable = true }
        for word in batch.words {
            switch word {
            case LinkWord.slate: news.remove(.slate)
            case LinkWord.sessions: news.remove(.sessions)
            case LinkWord.pauses: news.remove(.pauses)
            default: if let origin = LinkWord.origin(of: word) { answered.remove(origin) }
            }
        }
    }

    /// The inbox is about to be read.
    /// - Returns: whose rows are wanted, by partition, and how many may be read: over those in hand.
    mutating func beginRead() -> (watched: [Int: Int64], limit: Int64) {
        appliedSinceRead = []
        return (watched, Int64(Self.batch + inHand.count))
    }

    /// - Parameter watch: as it was before the read.
    /// - Returns: whether the row is to be handed to its lane now.
    mutating func takes(_ id: PostID, watch: [Int: Int64]) -> Bool {
        guard let epoch = watch[id.partition], watched[id.partition] == epoch else { return false }
        guard appliedSinceRead?.contains(id) != true else { return false }
        return inHand.insert(id).inserted
    }

    mutating func endRead() { appliedSinceRead = nil }

    /// The owner has answered.
    mutating func answer(_ number: Int64) -> (@Sendable (DeviceReply) -> Void)? {
        finished.append(number)
        return waiting.removeValue(forKey: number)?.hear
    }

    /// - Returns: those who have waited long enough for an owner, with what they are told.
    mutating func overdue(at now: SteadyTime, after seconds: Double) -> [(
        @Sendable (DeviceReply) -> Void, DeviceAnswer
    )] {
        let late = waiting.filter { now.seconds(since: $0.value.since) >= seconds }
        posts.removeAll { late[$0.id.number] != nil }
        for number in late.keys { waiting[number] = nil }
        return late.values.map { ($0.hear, $0.isDurable ? .done : .unavailable) }
    }

}

/// The words of a notification.
enum LinkWord {
    static let inbox = "inbox"
    static let slate = "slate"
    static let sessions = "sessions"
    static let pauses = "pauses"

    static func answers(for origin: Int64) -> String { "answers:\(origin)" }
    static func origin(of word: some StringProtocol) -> Int64? {
        word.hasPrefix("answers:") ? Int64(word.dropFirst("answers:".count)) : nil
    }
}
