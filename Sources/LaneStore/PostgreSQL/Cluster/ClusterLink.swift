internal import CardRules
internal import Dispatch
internal import Lanes
internal import Postgres
internal import Synchronization

/// The thread behind what nodes say to each other: posts, answers, claims of phones, news. One connection of its own.
struct ClusterLink: ~Copyable {
    let address: PostgresAddress
    let settings: PostgresSettings
    let channel: String
    let shared: LinkState
    let interrupt: PostgresInterrupt
    let clock: any SteadyClock
    let random: any RandomSource
    let tell: AsyncStream<ClusterEvent>.Continuation
    private var backoff = PostgresBackoff()
    private var nextPoll = SteadyTime.zero
    private var nextTidy = SteadyTime.zero
    private var nextTimeline = SteadyTime.zero
    private var timeline: Int64?

    /// NOTIFY can be missed: so often everything is looked at anyway.
    static let pollSeconds = 1.0
    static let tidySeconds = 60.0
    static let timelineSeconds = 0.3
    /// So long a call waits for the owner of its device; then it is answered for itself: it is durable.
    static let answerSeconds = 5.0

    init(
        address: PostgresAddress, settings: PostgresSettings, channel: String, shared: LinkState,
        interrupt: PostgresInterrupt, clock: any SteadyClock, random: any RandomSource,
        tell: AsyncStream<ClusterEvent>.Continuation
    ) {
        self.address = address
        self.settings = settings
        self.channel = channel
        self.shared = shared
        self.interrupt = interrupt
        self.clock = clock
        self.random = random
        self.tell = tell
    }

    mutating func run() {
        while !shared.isClosed {
            do throws(PostgresError) {
                var session = try PostgresSession.connect(to: address, settings: settings, interrupt: interrupt)
                // First, then the tables: nothing is kept for a listener that is away.
                try session.listen(to: channel)
                shared.desk { $0.connected() }
                backoff.reset()
                nextPoll = .zero
                try serve(&session)
            } catch {
                for hear in shared.desk({ $0.disconnected() }) {
                    hear(DeviceReply(answer: .unavailable, needsToken: false))
                }
                tellOverdue()
                shared.wait(seconds: backoff.next(random: random.next()))
            }
        }
        for hear in shared.desk({ $0.disconnected() }) { hear(DeviceReply(answer: .unavailable, needsToken: false)) }
        tellOverdue(after: 0)
    }

    /// Returns when the link is closed.
    private mutating func serve(_ session: inout PostgresSession) throws(PostgresError) {
        var heard = Heard(everything: true)
        while true {
            let isFull = try speak(&session)
            let now = clock.uptime
            if now >= nextPoll {
                nextPoll = now.advanced(bySeconds: Self.pollSeconds)
                heard = Heard(everything: true)
            }
            if shared.takeLook() { heard.inbox = true }
            if heard.inbox { heard.hasMore = try readInbox(&session) }
            if heard.answers { try readAnswers(&session) }
            if !heard.news.isEmpty { tell.yield(.news(heard.news)) }
            if shared.followsTimeline, now >= nextTimeline {
                nextTimeline = now.advanced(bySeconds: Self.timelineSeconds)
                let next = try session.execute(LinkStatements.timeline).integer(0, 0)
                if timeline != next { tell.yield(.news(.timeline)) }
                timeline = next
            }
            if now >= nextTidy { try tidy(&session, now) }
            tellOverdue()
            if shared.isClosed {
                while try speak(&session) {}
                return
            }
            let due = shared.followsTimeline ? min(nextPoll, nextTimeline) : nextPoll
            let milliseconds = isFull || heard.hasMore ? 0 : (due.seconds(since: clock.uptime) * 1000).rounded(.up)
            let notifications = try session.waitForNotifications(
                timeoutMilliseconds: Int32(max(0, min(milliseconds, Self.pollSeconds * 1000))))
            let hadMore = heard.hasMore
            heard = Heard(notifications.map(\.payload), for: shared.origin)
            heard.inbox = heard.inbox || hadMore
        }
    }

    private mutating func tidy(_ session: inout PostgresSession, _ now: SteadyTime) throws(PostgresError) {
        nextTidy = now.advanced(bySeconds: Self.tidySeconds)
        var writer = PostgresParameters()
        writer.int64(shared.origin)
        _ = try session.execute(LinkStatements.tidy)
        _ = try session.execute(LinkStatements.seen, writer)
    }

    private func tellOverdue(after seconds: Double = answerSeconds) {
        for (hear, answer) in shared.desk({ $0.overdue(at: clock.uptime, after: seconds) }) {
            hear(DeviceReply(answer: answer, needsToken: false))
        }
    }

    // MARK: - Speaking

    /// One round trip with whatever there is to say.
    /// - Returns: whether there may be more.
    private func speak(_ session: inout PostgresSession) throws(PostgresError) -> Bool {
        let batch = shared.desk { $0.next() }
        guard !batch.isEmpty else { return false }
        var calls: [PostgresCall] = []
        var claimPlace: Int?
        if !batch.posts.isEmpty { calls.append(post(batch.posts)) }
        if !batch.claims.isEmpty {
            claimPlace = calls.count
            calls.append(claim(batch.claims))
        }
        if !batch.handedOver.isEmpty { calls.append(handOver(batch.handedOver)) }
        if !batch.finished.isEmpty {
            var values = PostgresParameters()
            values.int64(shared.origin)
            values.array(of: .int8, batch.finished) { $1.int64($0) }
            calls.append(PostgresCall(LinkStatements.finish, values))
        }
        if !batch.words.isEmpty {
            var values = PostgresParameters()
            values.text(channel)
            values.text(batch.words.joined(separator: " "))
            calls.append(PostgresCall(LinkStatements.notify, values))
        }
        let results: [PostgresResult]
        do throws(PostgresError) {
            results = try session.pipeline(calls)
        } catch {
            // Somebody holds a row: nothing was done, and it is said again.
            guard [.repeatNow, .repeatLater].contains(error.nextStep), !error.endsConnection else { throw error }
            return true
        }
        shared.desk { $0.landed(batch) }
        if let claimPlace { tellClaims(batch.claims, results[claimPlace]) }
        return true
    }

    private func post(_ posts: [LinkDesk.Post]) -> PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, posts) { $1.int16(Int16($0.id.partition)) }
        values.int64(shared.origin)
        values.array(of: .int8, posts) { $1.int64($0.id.number) }
        values.array(of: .text, posts) { $1.text($0.device.text) }
        values.array(of: .bytea, posts) { $1.bytea($0.body) }
        return PostgresCall(LinkStatements.post, values)
    }

    private func claim(_ claims: [LinkDesk.Claim]) -> PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, claims) { $1.int16(Int16(partition(of: $0.device))) }
        values.array(of: .int8, claims) { $1.int64($0.epoch) }
        values.array(of: .int2, claims) { $1.int16(Int16(partition(ofToken: $0.token))) }
        values.array(of: .bytea, claims) { $1.bytea($0.token) }
        values.array(of: .text, claims) { $1.text($0.device.text) }
        return PostgresCall(LinkStatements.claim, values)
    }

    private func tellClaims(_ claims: [LinkDesk.Claim], _ result: PostgresResult) {
        var before: [[UInt8]: DeviceID?] = [:]
        for row in 0..<result.rows {
            guard let token = result.bytes(row, 0) else { continue }
            before[token] = .some(result.text(row, 1).flatMap { DeviceID($0) })
        }
        // Without a row its partition is not ours any more.
        for claim in claims { if let before = before[claim.token] { claim.hear(before) } }
    }

    private func handOver(_ rows: [LinkDesk.HandedOver]) -> PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, rows) { $1.int16(Int16(partition(ofToken: $0.token))) }
        values.array(of: .bytea, rows) { $1.bytea($0.token) }
        values.array(of: .text, rows) { $1.text($0.older.text) }
        return PostgresCall(LinkStatements.handedOver, values)
    }

    // MARK: - Reading

    /// - Returns: whether there is more.
    private func readInbox(_ session: inout PostgresSession) throws(PostgresError) -> Bool {
        let (watch, limit) = shared.desk { $0.beginRead() }
        guard !watch.isEmpty else { return false }
        var values = PostgresParameters()
        values.array(of: .int2, watch.keys.sorted()) { $1.int16(Int16($0)) }
        values.int64(limit)
        let result = try session.execute(LinkStatements.open, values)
        var received: [ReceivedPost] = []
        for row in 0..<result.rows {
            guard let place = try result.integer(row, 0), let origin = try result.integer(row, 1),
                let number = try result.integer(row, 2), let epoch = watch[Int(place)]
            else { continue }
            let id = PostID(partition: Int(place), origin: origin, number: number)
            guard shared.desk({ $0.takes(id, watch: watch) }) else { continue }
            do throws(StoreError) {
                received.append(
                    try StoredRows.post(
                        id, device: result.text(row, 3) ?? "", body: result.bytes(row, 4) ?? [], epoch: epoch))
            } catch {
                // Of a newer version, or damaged: left alone, for a node that can read it or for a person.
                continue
            }
        }
        shared.desk { $0.endRead() }
        if !received.isEmpty { tell.yield(.posted(received)) }
        return result.rows >= Int(limit)
    }

    private func readAnswers(_ session: inout PostgresSession) throws(PostgresError) {
        var values = PostgresParameters()
        values.int64(shared.origin)
        let result = try session.execute(LinkStatements.answers, values)
        for row in 0..<result.rows {
            guard let number = try result.integer(row, 0) else { continue }
            let reply = try? StoredRows.reply(result.bytes(row, 1) ?? [])
            shared.desk { $0.answer(number) }?(reply ?? DeviceReply(answer: .done, needsToken: false))
        }
        if result.rows > 0 { interrupt.nudge() }
    }

    /// What notifications ask to be looked at.
    private struct Heard {
        var inbox = false
        var answers = false
        var news: ClusterNews = []
        var hasMore = false

        init(everything: Bool) {
            (inbox, answers) = (everything, everything)
            if everything { news = [.slate, .sessions, .pauses] }
        }

        init(_ payloads: [String], for origin: Int64) {
            for word in payloads.flatMap({ $0.split(separator: " ") }) {
                switch word {
                case LinkWord.inbox: inbox = true
                case LinkWord.slate: news.insert(.slate)
                case LinkWord.sessions: news.insert(.sessions)
                case LinkWord.pauses: news.insert(.pauses)
                default: if LinkWord.origin(of: word) == origin { answers = true }
                }
            }
        }
    }
}

/// What the thread and its callers share.
final class LinkState: Sendable {
    let origin: Int64
    private let state: Mutex<State>
    private let patience = DispatchSemaphore(value: 0)

    private struct State {
        var desk: LinkDesk
        var isClosed = false
        var isToLook = false
        var followsTimeline: @Sendable () -> Bool = { false }
    }

    init(origin: Int64) {
        self.origin = origin
        state = Mutex(State(desk: LinkDesk(origin: origin)))
    }

    @discardableResult
    func desk<Value: Sendable>(_ body: (inout LinkDesk) -> Value) -> Value { state.withLock { body(&$0.desk) } }

    /// The inbox is to be looked at, whatever notifications say.
    func look() { state.withLock { $0.isToLook = true } }

    func takeLook() -> Bool {
        state.withLock { state in
            defer { state.isToLook = false }
            return state.isToLook
        }
    }

    func follow(timelineWhile isFollowed: @escaping @Sendable () -> Bool) {
        state.withLock { $0.followsTimeline = isFollowed }
    }

    var followsTimeline: Bool { state.withLock { $0.followsTimeline }() }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func close() {
        state.withLock { $0.isClosed = true }
        patience.signal()
    }

    /// Between two attempts to connect.
    func wait(seconds: Double) { _ = patience.wait(timeout: .now() + seconds) }
}
