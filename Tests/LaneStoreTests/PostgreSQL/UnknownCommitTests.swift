import CardRules
import LaneStore
import Lanes
import PrivatePostgres
import Testing

/// Commits whose answer is lost (measured-store 1.4): each is answered once, and right.
@Suite struct UnknownCommitTests {
    private let nothing = CommitOutcome.landed(refused: RefusedRows())

    /// A store behind a line that can be cut, whose statements are prepared already, so that a commit is one message.
    private struct Bench {
        let schema: TestSchema
        let line: CutLine
        let store: PostgresStore

        init(connections: Int = 1) async throws {
            schema = try await TestSchema()
            line = try CutLine(to: schema.cluster.port)
            store = try await schema.open(port: line.port) { $0.connections = connections }
            let outcome = await store.landed {
                $0.lanes = [sampleLane("d0"), sampleLane("d1", generation: 5, user: "new")]
                $0.claims = [sampleClaim("d1", 0)]
                $0.timeline = [sampleRow("d0", "zero")]
            }
            guard outcome == .landed(refused: RefusedRows()) else { throw ClusterFault(what: "\(outcome)") }
        }

        /// As the program's own commits: each kind of row once.
        func commit() async -> CommitOutcome {
            await store.landed {
                $0.lanes = [sampleLane("d0", generation: 2), sampleLane("d1", generation: 4, user: "old")]
                $0.claims = [sampleClaim("d0", 0), sampleClaim("d0", 1), sampleClaim("d1", 1)]
                $0.timeline = [sampleRow("d0", "one")]
            }
        }

        func close() async {
            await store.close()
            line.close()
        }
    }

    private let refused = CommitOutcome.landed(
        refused: RefusedRows(lanes: [DeviceID(unchecked: "d1")], claims: [sampleClaim("d1", 1)]))

    @Test(arguments: [CutLine.Cut.answer, .message, .behind])
    func `L1: a commit whose answer is lost is decided, and written once`(cut: CutLine.Cut) async throws {
        let bench = try await Bench()
        bench.line.cutNext(cut)
        #expect(await bench.commit() == refused)
        #expect(bench.line.cuts == 1)
        let timeline = try await bench.store.timeline(device: nil, after: nil, limit: 9)
        #expect(timeline.map(\.row.entry.detail) == ["zero", "one"])
        let lane = try await bench.store.loadLane(DeviceID(unchecked: "d0"))
        #expect(lane == sampleLane("d0", generation: 2))
        // It goes on with the next number.
        #expect(await bench.store.landed { $0.lanes = [sampleLane("d0", generation: 3)] } == nothing)
        #expect(try await bench.schema.sql("SELECT max(commit_seq) FROM lease") == "3")
        await bench.close()
    }

    @Test func `L1: while the first attempt is still under way its repetition waits, and does not write twice`()
        async throws
    {
        let bench = try await Bench()
        let holder = try await bench.schema.connect()
        try await holder.sql("BEGIN; SELECT FROM lane WHERE device = 'd0' FOR UPDATE")
        bench.line.cutNext(.behind)
        async let outcome = bench.commit()
        let watcher = try await bench.schema.connect()
        // The first waits for the row, the second for the first's counter.
        try await watcher.wait(
            until: """
                (SELECT count(*) FROM pg_stat_activity
                WHERE application_name = '\(bench.schema.name)' AND wait_event_type = 'Lock') = 2
                """)
        try await holder.sql("COMMIT")
        #expect(await outcome == refused)
        let timeline = try await bench.store.timeline(device: nil, after: nil, limit: 9)
        #expect(timeline.map(\.row.entry.detail) == ["zero", "one"])
        await bench.close()
    }

    @Test func `L1: while nobody knows whether it landed it is not answered, other commits fail at once`() async throws
    {
        let bench = try await Bench()
        let answered = Locked(false)
        bench.line.refuse(true)
        bench.line.cutNext(.answer)
        async let outcome = {
            let outcome = await bench.commit()
            answered.change { $0 = true }
            return outcome
        }()
        // Known once a commit is refused without having been sent.
        var other = CommitOutcome.landed(refused: RefusedRows())
        while case .landed = other {
            await Task.yield()
            if bench.line.cuts == 1 { other = await bench.store.landed { $0.lanes = [sampleLane("d7")] } }
        }
        guard case .failed(.unavailable) = other else { throw ClusterFault(what: "\(other)") }
        #expect(!answered.change { $0 })
        #expect(bench.store.trouble != nil)
        bench.line.refuse(false)
        #expect(await outcome == refused)
        #expect(try await bench.store.loadLane(DeviceID(unchecked: "d7")) == nil)
        #expect(bench.store.trouble == nil)
        await bench.close()
    }

    @Test func `a commit that may have landed when a newer owner takes over fails as fenced`() async throws {
        let bench = try await Bench()
        bench.line.refuse(true)
        bench.line.cutNext(.message)
        async let outcome = bench.commit()
        while bench.store.trouble == nil { await Task.yield() }
        _ = try await bench.schema.sql("UPDATE lease SET epoch = epoch + 1")
        bench.line.refuse(false)
        #expect(await outcome == .failed(.fenced))
        #expect(try await bench.schema.sql("SELECT count(*) FROM claim") == "1")
        await bench.close()
    }

    @Test(arguments: [CutLine.Cut.message, .answer])
    func `what may have landed and cannot be written again is cancelled, or found to have landed`(cut: CutLine.Cut)
        async throws
    {
        let bench = try await Bench()
        bench.line.refuse(true)
        bench.line.cutNext(cut)
        async let outcome = bench.commit()
        while bench.store.trouble == nil { await Task.yield() }
        // Meanwhile something broke, so that the same statement fails.
        _ = try await bench.schema.sql("ALTER TABLE claim ADD CHECK (ordinal < 0) NOT VALID")
        bench.line.refuse(false)
        if cut == .answer {
            #expect(await outcome == refused)
        } else {
            guard case .failed(.unavailable(let detail)) = await outcome else {
                Issue.record("not failed")
                return
            }
            #expect(detail.contains("23514"))
            #expect(try await bench.schema.sql("SELECT count(*) FROM claim") == "1")
        }
        #expect(await bench.store.landed { $0.lanes = [sampleLane("d0", generation: 9)] } == nothing)
        await bench.close()
    }

    @Test func `commits under random cuts: each answered once, none lost, none written twice`() async throws {
        let seed = seeds.first ?? 0
        var random = Seeded(seed)
        let bench = try await Bench(connections: 3)
        var claimed = 0
        for round in 0..<40 {
            if random.chance(60) { bench.line.cutNext(random.pick([.answer, .message, .behind])) }
            let outcomes = await withTaskGroup(of: CommitOutcome.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        await bench.store.landed {
                            $0.claims = [sampleClaim("r\(number)", round)]
                            $0.timeline = [sampleRow("r\(number)", "\(round)")]
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // A line that breaks while the connection is made is an honest failure.
            claimed += outcomes.count { $0 == nothing }
            #expect(
                outcomes.allSatisfy { outcome in
                    if case .failed(.unavailable) = outcome { true } else { outcome == nothing }
                }, "seed \(seed), round \(round): \(outcomes)")
        }
        #expect(try await bench.schema.sql("SELECT count(*) FROM claim WHERE device LIKE 'r%'") == "\(claimed)")
        let timeline = try await bench.store.timeline(device: nil, after: nil, limit: 1000)
        #expect(timeline.count == claimed + 1)
        #expect(claimed > 80)
        await bench.close()
    }
}
