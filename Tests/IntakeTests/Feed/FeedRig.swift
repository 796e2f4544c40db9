import CardRules
import Intake
import Lanes
import Postgres
import PrivatePostgres
import Simulation
import Synchronization

/// A database with a table of games, and a feed that reads it.
struct FeedRig {
    static let columns: [FeedKey: FeedSource] = [
        .game: .column("id", words: [:]), .sport: .column("sport", words: [:]), .home: .column("home", words: [:]),
        .away: .column("away", words: [:]), .startsAt: .column("starts_at", words: [:]),
        .homeScore: .column("home_score", words: [:]), .awayScore: .column("away_score", words: [:]),
        .period: .column("period", words: [:]), .phase: .column("status", words: ["in_progress": "live"]),
        .detail: .column("detail", words: [:]),
    ]

    let cluster: PrivateCluster
    /// The name of its schema, its publication and its slot: what others do is in the same log, and not theirs.
    let name: String
    let admin: PostgresConnection
    var settings: FeedSettings
    var clock = ScaledClock(start: WallTime(seconds: 1_800_000_000), speed: 1)

    var table: String { "\(name).game" }

    /// - Parameter ownDatabase: for what stands in the schema `public`.
    init(in cluster: PrivateCluster? = nil, ownDatabase: Bool = false) async throws {
        if let cluster { self.cluster = cluster } else { self.cluster = try await PrivateCluster.shared() }
        name = self.cluster.freshName("feed")
        var url = self.cluster.url()
        if ownDatabase {
            try await FeedRig.connect(url, searching: "public").sql("CREATE DATABASE \(name)")
            url = self.cluster.url(database: name)
        }
        settings = FeedSettings(
            address: try PostgresAddress(url), publication: name, slot: name, schema: name, table: "game",
            sources: FeedRig.columns)
        admin = try await FeedRig.connect(url, searching: ownDatabase ? "public" : name)
        if ownDatabase { return }
        try await admin.sql(
            """
            CREATE SCHEMA \(name);
            CREATE TYPE status AS ENUM ('pre', 'in_progress', 'break', 'final');
            CREATE TABLE game (id text PRIMARY KEY, sport text NOT NULL, home text NOT NULL, away text NOT NULL,
              starts_at timestamptz, home_score int2, away_score int2, period int, status status, detail jsonb,
              internal text);
            ALTER TABLE game ALTER COLUMN detail SET STORAGE EXTERNAL;
            CREATE PUBLICATION \(name) FOR TABLE game
            """)
    }

    /// One more of the admin's kind.
    func connect() async throws -> PostgresConnection {
        try await FeedRig.connect(cluster.url(), searching: name)
    }

    private static func connect(_ url: String, searching schema: String) async throws -> PostgresConnection {
        var settings = PostgresSettings()
        settings.statementMilliseconds = 0
        settings.silenceMilliseconds = nil
        settings.parameters = ["search_path": schema]
        return try await PostgresConnection.open(PostgresAddress(url), settings: settings)
    }

    func insert(_ id: String, home: Int = 0) async throws {
        try await admin.sql(
            """
            INSERT INTO game VALUES ('\(id)', 'hockey', 'Bruins', 'Rangers', '2027-01-15 19:00-05', \(home), 0, 1,
              'in_progress', '{"shots": [1, 2]}')
            """)
    }

    /// - Parameter before: what the sink does before it takes a tick.
    func addFeed(
        _ tables: FeedTables, before: @escaping @Sendable ([SlateLine]) async throws -> Void = { _ in }
    ) -> Task<FeedFault?, Never> {
        let feed = PostgresFeed(
            settings: settings, clock: clock, random: SeededSource(seed: 1),
            sink: { lines in
                try await before(lines)
                try await tables.take(lines)
            },
            notice: { tables.note($0) })
        return Task {
            do throws(FeedFault) {
                try await feed.run()
                return nil
            } catch {
                tables.end(error)
                return error
            }
        }
    }

    /// Ends the sessions that use the slot.
    func endStream() async throws {
        // Between two sessions nobody has the slot.
        while !Task.isCancelled {
            let ended = try await admin.sql(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '\(name)'")
            if ended.last?.text(0, 0) == "t" { return }
        }
    }
}

/// What the feed handed on, merged as the slate does.
final class FeedTables: Sendable {
    struct State: Sendable {
        var slate = Slate(tuning: Tuning())
        var ticks: [[SlateLine]] = []
        var notices: [FeedNotice] = []
        var fault: FeedFault?
        var failures = 0
        var waiters: [(until: @Sendable (State) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let merges: Bool

    /// - Parameter merges: `false` for more games than a slate holds, which it would refuse one by one.
    init(merges: Bool = true) { self.merges = merges }

    struct NotKept: Error {}

    /// The next so many ticks are not kept.
    func failNext(_ count: Int) { state.withLock { $0.failures = count } }

    func take(_ lines: [SlateLine]) async throws {
        let kept = change { state in
            if state.failures > 0 {
                state.failures -= 1
                return false
            }
            if merges { for line in lines { _ = state.slate.apply(line, at: line.at) } }
            state.ticks.append(lines)
            return true
        }
        if !kept { throw NotKept() }
    }

    func note(_ notice: FeedNotice) { change { $0.notices.append(notice) } }

    func end(_ fault: FeedFault) { change { $0.fault = fault } }

    /// Suspends until it is so, or until the feed has ended.
    func wait(until isSo: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { wake in
            let isThere = state.withLock { state in
                if isSo(state) || state.fault != nil { return true }
                state.waiters.append((isSo, wake))
                return false
            }
            if isThere { wake.resume() }
        }
    }

    func game(_ id: String) -> GameState? { state.withLock { $0.slate.game(GameID(unchecked: id)) } }

    var ticks: [[SlateLine]] { state.withLock { $0.ticks } }

    var notices: [FeedNotice] { state.withLock { $0.notices } }

    /// Home scores in the order in which they came.
    func homeScores(of id: String) -> [Int] {
        ticks.joined().compactMap { line in
            if case .score(let patch) = line, patch.game.text == id, case .value(let home) = patch.home {
                home
            } else {
                nil
            }
        }
    }

    @discardableResult
    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, woken) = state.withLock { state in
            let value = body(&state)
            let now = state
            let due = now.waiters.filter { $0.until(now) || now.fault != nil }
            state.waiters = now.waiters.filter { !($0.until(now) || now.fault != nil) }
            return (value, due.map(\.wake))
        }
        for wake in woken { wake.resume() }
        return value
    }
}

extension FeedTables.State {
    func detail(_ id: String) -> JSONValue? { slate.game(GameID(unchecked: id))?.detail }

    func home(_ id: String) -> Int? { slate.game(GameID(unchecked: id))?.homeScore }
}

extension PostgresConnection {
    @discardableResult
    func sql(_ text: String) async throws(PostgresError) -> [PostgresResult] {
        try await perform { (session) throws(PostgresError) in try session.query(text) }
    }
}
