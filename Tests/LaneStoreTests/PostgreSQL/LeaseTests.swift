import Lanes
import Postgres
import PrivatePostgres
import Simulation
import Synchronization
import Testing

@testable import LaneStore

/// Time that a test moves.
final class TestSteadyClock: SteadyClock {
    private let now = Mutex(SteadyTime.zero)
    var uptime: SteadyTime { now.withLock { $0 } }
    func advance(by seconds: Double) { now.withLock { $0 = $0.advanced(bySeconds: seconds) } }
}

@Suite(.timeLimit(.minutes(2))) struct LeaseTests {
    /// A node of a test's cluster, with what it was told.
    private final class Node: Sendable {
        let leases: PartitionLeases
        let clock = TestSteadyClock()
        private let held = Locked<[Int: PartitionHold]>([:])

        /// - Parameter looksSeldom: only when there is a reason.
        init(_ schema: TestSchema, _ name: String, port: Int? = nil, looksSeldom: Bool = false) throws {
            var settings = PartitionLeases.Settings()
            settings.schema = schema.name
            if looksSeldom { (settings.ttlSeconds, settings.renewSeconds) = (36_000, 3600) }
            let address = port.map { schema.address.setting("port", "\($0)") } ?? schema.address
            leases = try PartitionLeases.join(
                address, name: name, settings: settings, clock: clock, random: SeededSource(seed: 1))
        }

        var holds: [Int: PartitionHold] { held.change { $0 } }

        /// Follows what it is told, and gives what it is asked for, until it holds what is wanted.
        func run(until isDone: ([Int: PartitionHold]) -> Bool) async {
            var iterator = leases.events.makeAsyncIterator()
            while !isDone(holds), let event = await iterator.next() {
                switch event {
                case .gained(let hold): held.change { $0[hold.partition] = hold }
                case .asked(let partition):
                    if let hold = held.change({ $0.removeValue(forKey: partition) }) {
                        leases.release(partition, epoch: hold.epoch)
                    }
                case .lost(let partitions): held.change { held in for place in partitions { held[place] = nil } }
                }
            }
        }
    }

    private func schema() async throws -> TestSchema {
        let schema = try await TestSchema()
        try await PostgresStore.migrate(schema.address, schema: schema.name)
        return schema
    }

    @Test func `the first node takes everything, and its store writes with what it was told`() async throws {
        let schema = try await schema()
        let node = try Node(schema, "a")
        await node.run { $0.count == partitionCount }
        #expect(node.leases.mayActUntil == SteadyTime.zero.advanced(bySeconds: 8))
        #expect(node.leases.node != nil)
        let store = try await schema.open(.leases, migrate: false)
        for hold in node.holds.values { store.hold(hold) }
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == .landed(refused: RefusedRows()))
        await store.close()
        await node.leases.leave()
        #expect(try await schema.sql("SELECT count(holder) FROM lease") == "0")
        #expect(try await schema.sql("SELECT count(*) FROM node") == "0")
    }

    @Test func `nodes that come get their share, and what a leaving one held goes to the others`() async throws {
        let schema = try await schema()
        let a = try Node(schema, "a")
        await a.run { $0.count == partitionCount }
        let b = try Node(schema, "b")
        async let first: Void = a.run { $0.count == 32 }
        await b.run { $0.count == 32 }
        await first
        #expect(Set(a.holds.keys).isDisjoint(with: b.holds.keys))
        await b.leases.leave()
        await a.run { $0.count == partitionCount }
        // Whoever takes has a higher epoch than whoever had it.
        for (place, hold) in b.holds { #expect((a.holds[place]?.epoch ?? 0) > hold.epoch) }
        await a.leases.leave()
    }

    @Test func `a node whose time is over on the server is dead: it loses all and comes back as another`() async throws
    {
        let schema = try await schema()
        let node = try Node(schema, "a")
        await node.run { $0.count == partitionCount }
        let id = node.leases.node
        _ = try await schema.sql("UPDATE node SET expires = now() - interval '1 second'")
        let thief = try await schema.connect()
        // Somebody takes one.
        try await thief.sql(
            """
            INSERT INTO node (name, expires) VALUES ('b', now() + interval '1 hour');
            UPDATE lease SET holder = (SELECT id FROM node WHERE name = 'b'), epoch = epoch + 1 WHERE partition = 5;
            """)
        node.clock.advance(by: 3)
        try await thief.sql("SELECT pg_notify('\(schema.name)_leases', '')")
        await node.run { $0.isEmpty }
        await node.run { $0.count == 32 }
        #expect(node.leases.node != id)
        #expect(node.holds[5] == nil)
        await node.leases.leave()
    }

    @Test func `past its own time a node has lost everything, also when the database does not answer`() async throws {
        let schema = try await schema()
        let line = try CutLine(to: schema.cluster.port)
        let node = try Node(schema, "a", port: line.port)
        await node.run { $0.count == partitionCount }
        line.refuse(true)
        line.cutNext(.message)
        node.clock.advance(by: 8.5)
        let other = try await schema.connect()
        try await other.sql("SELECT pg_notify('\(schema.name)_leases', '')")
        await node.run { $0.isEmpty }
        #expect(node.leases.mayActUntil == .zero)
        await node.leases.leave()
        line.close()
    }

    @Test func `what another was about to take, and left, is taken at once: a hand-over waits for no renewal`()
        async throws
    {
        let schema = try await schema()
        let other = try await schema.connect()
        // Whoever tries finds it gone, some times; then it is free. It looks twice for its own coming alone.
        try await other.sql("CREATE SEQUENCE tries")
        try await other.sql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.partition = 5 AND nextval('tries') <= 5 THEN RETURN NULL; END IF; RETURN NEW; END $$
            """)
        try await other.sql(
            "CREATE TRIGGER refuse BEFORE UPDATE OF holder ON lease FOR EACH ROW EXECUTE FUNCTION refuse()")
        let node = try Node(schema, "a", looksSeldom: true)
        await node.run { $0.count == partitionCount }
        #expect(try await schema.sql("SELECT last_value FROM tries") == "6")
        await node.leases.leave()
    }

    @Test func `a release that comes late, of an earlier tenure, gives nothing up`() async throws {
        let schema = try await schema()
        let node = try Node(schema, "a")
        await node.run { $0.count == partitionCount }
        node.leases.release(3, epoch: 0)
        node.leases.release(4, epoch: 1)
        // Alone it takes again what it has given.
        await node.run { $0[4]?.epoch == 2 }
        #expect(
            try await schema.sql(
                "SELECT string_agg(epoch::text, ' ' ORDER BY partition) FROM lease WHERE partition IN (3, 4)") == "1 2")
        await node.leases.leave()
    }

    @Test func `exactly one of many takers gets a free partition, and none gets one that is held`() async throws {
        let schema = try await schema()
        _ = try await schema.sql(
            "INSERT INTO node (name, expires) SELECT n::text, now() + interval '1 hour' FROM generate_series(1, 6) n")
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for node in 1...6 {
                group.addTask {
                    let connection = try await schema.connect()
                    return try await connection.perform { (session) throws(PostgresError) in
                        var count = 0
                        for partition in 0..<partitionCount {
                            var values = PostgresParameters()
                            values.int64(Int64(node))
                            values.int16(Int16(partition))
                            count += try session.execute(LeaseStatements.take, values).rows
                        }
                        return count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(taken == partitionCount)
        #expect(try await schema.sql("SELECT min(epoch) || ' ' || max(epoch) FROM lease") == "1 1")
    }

    @Test func `a taker without a live row of its own takes nothing`() async throws {
        let schema = try await schema()
        _ = try await schema.sql("INSERT INTO node (name, expires) VALUES ('dead', now() - interval '1 second')")
        let connection = try await schema.connect()
        let rows = try await connection.perform { (session) throws(PostgresError) in
            var values = PostgresParameters()
            values.int64(1)
            values.int16(0)
            return try session.execute(LeaseStatements.take, values).rows
        }
        #expect(rows == 0)
    }

    @Test func `a node that hangs in a commit does not hold its partitions beyond its lease`() async throws {
        let schema = try await schema()
        _ = try await schema.sql(
            "INSERT INTO node (name, expires, writer) VALUES ('hung', now() - interval '1 second', 77)")
        _ = try await schema.sql("UPDATE lease SET holder = (SELECT id FROM node) WHERE partition = 3")
        let hung = try await schema.connect()
        try await hung.sql("SET application_name = '\(PostgresStore.sessionName(77))'")
        try await hung.sql("BEGIN; UPDATE lease SET commit_seq = 9 WHERE partition = 3")
        let node = try Node(schema, "a")
        await node.run { $0.count == partitionCount }
        #expect(node.holds[3]?.sequence == 0)
        await node.leases.leave()
    }
}

extension LeaseTests {
    @Test func `a lease that cannot be renewed says why at the next renewal, long before it is over`()
        async throws
    {
        let schema = try await schema()
        let node = try Node(schema, "a")
        await node.run { $0.count == partitionCount }
        #expect(node.leases.trouble == nil)
        // As on a server that was demoted: reads work, every write is refused.
        _ = try await schema.sql(
            """
            CREATE FUNCTION demoted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'cannot execute UPDATE in a read-only transaction' USING ERRCODE = '25006';
            END $$;
            CREATE TRIGGER demoted BEFORE UPDATE ON node FOR EACH ROW EXECUTE FUNCTION demoted();
            """)
        node.clock.advance(by: 3.1)
        while node.leases.trouble == nil, !Task.isCancelled { await Task.yield() }
        #expect("\(String(describing: node.leases.trouble))".contains("read-only"))
        #expect(node.clock.uptime < node.leases.mayActUntil && node.holds.count == partitionCount)
        _ = try await schema.sql("DROP TRIGGER demoted ON node")
        while node.leases.trouble != nil, !Task.isCancelled { await Task.yield() }
        await node.leases.leave()
    }
}

@Suite struct LeaseBookTests {
    private func at(_ seconds: Double) -> SteadyTime { SteadyTime.zero.advanced(bySeconds: seconds) }

    @Test func `a node's own time counts from before it asked, and ends before the server's does`() {
        var book = LeaseBook(ttlSeconds: 10, marginSeconds: 2)
        book.joined(as: 1, sentAt: at(100))
        #expect(book.mayActUntil == at(108))
        book.renewed(sentAt: at(103))
        #expect(book.mayActUntil == at(111))
        book.renewed(sentAt: at(101))
        #expect(book.mayActUntil == at(111), "a late answer to an early question")
        #expect(!book.isOver(at: at(110.9)) && book.isOver(at: at(111)))
    }

    @Test func `what is asked for is asked for once, dead it holds nothing`() {
        var book = LeaseBook(ttlSeconds: 10, marginSeconds: 2)
        book.joined(as: 1, sentAt: at(0))
        for place in 1...3 { book.took(place, epoch: 7) }
        #expect(book.ask([2, 3, 9]) == [2, 3])
        #expect(book.ask([1, 2]) == [1])
        book.released([2])
        #expect(book.lost([2, 3]) == [3])
        #expect(book.died() == [1])
        #expect(book.node == nil && book.held.isEmpty && book.mayActUntil == .zero)
    }

    /// A clock that goes on with every look at it.
    private final class RunningClock: SteadyClock {
        private let looks = Mutex(0)
        var uptime: SteadyTime {
            looks.withLock { looks in
                looks += 1
                return SteadyTime.zero.advanced(bySeconds: Double(looks) / 1000)
            }
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `the time is read before the server is asked`() async throws {
        let schema = try await TestSchema()
        try await PostgresStore.migrate(schema.address, schema: schema.name)
        var settings = PartitionLeases.Settings()
        settings.schema = schema.name
        let leases = try PartitionLeases.join(
            schema.address, name: "a", settings: settings, clock: RunningClock(), random: SeededSource(seed: 1))
        var iterator = leases.events.makeAsyncIterator()
        _ = await iterator.next()
        // The third look at the clock: the first two ask whether anything is over or due.
        #expect(leases.mayActUntil <= at(8.003))
        await leases.leave()
    }
}

@Suite struct LeaseBalanceTests {
    private func plan(_ me: Int64, _ nodes: [Int64], _ holders: [Int64?]) -> LeaseBalance.Plan {
        LeaseBalance.plan(me: me, nodes: nodes, holders: holders)
    }

    @Test func `a node that is not alive takes nothing`() {
        #expect(plan(1, [2], [nil, nil]) == LeaseBalance.Plan())
    }

    @Test func `alone, it takes all that is free or held by the dead`() {
        #expect(plan(1, [1], [nil, 9, 1, nil]).take == [0, 1, 3])
    }

    @Test func `who holds more than a share gives the rest, who holds most keeps the larger one`() {
        let holders: [Int64?] = [1, 1, 1, 1, 2]
        #expect(plan(1, [1, 2], holders) == LeaseBalance.Plan(give: [3]))
        #expect(plan(2, [1, 2], holders) == LeaseBalance.Plan())
        #expect(plan(1, [1, 2], [1, 1, 1, 2, 2]) == LeaseBalance.Plan())
    }

    @Test(arguments: seeds) func `nodes that come and go end balanced, each partition moved at most once`(seed: UInt64)
    {
        var random = Seeded(seed)
        var holders: [Int64?] = Array(repeating: nil, count: partitionCount)
        var nodes: [Int64] = [1]
        var next: Int64 = 2
        for _ in 0..<12 {
            if nodes.count < 2 || random.chance() {
                nodes.append(next)
                next += 1
            } else {
                nodes.remove(at: Int.random(in: nodes.indices, using: &random))
            }
            let before = holders
            var moves = Array(repeating: 0, count: partitionCount)
            for _ in 0..<20 {
                for node in nodes.shuffled(using: &random) {
                    let plan = plan(node, nodes, holders)
                    for place in plan.give { holders[place] = nil }
                    for place in plan.take {
                        holders[place] = node
                        moves[place] += 1
                    }
                }
            }
            let counts = nodes.map { node in holders.count { $0 == node } }
            #expect(
                counts.reduce(0, +) == partitionCount && (counts.max() ?? 0) - (counts.min() ?? 0) <= 1, "seed \(seed)")
            #expect(moves.allSatisfy { $0 <= 1 }, "seed \(seed): \(before.map { $0 ?? 0 }) \(moves)")
        }
    }
}
