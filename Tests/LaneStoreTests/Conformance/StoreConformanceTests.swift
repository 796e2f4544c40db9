import CardRules
import LaneStore
import Lanes
import Testing

/// What every store must do; each test runs over each of them.
@Suite struct StoreConformanceTests {
    typealias Kind = StoreBench.Kind

    private let nothing = CommitOutcome.landed(refused: RefusedRows())

    @Test(arguments: Kind.allCases) func `L1: what has landed is read again, in order of device`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        var random = Seeded(7)
        let lanes = (0..<300).map { number in
            var record = random.record()
            record = LaneRecord(device: DeviceID(unchecked: "d\(number)"), app: record.app, ledger: record.ledger)
            record.cards = [random.card()]
            return StoredLane(record: record, generation: Generation(UInt32(number)))
        }
        #expect(await store.landed { $0.lanes = lanes } == nothing)
        #expect(try await store.allLanes() == lanes.sorted { $0.record.device < $1.record.device })
        for partition in 0..<partitionCount {
            let found = Gathered<StoredLane>()
            _ = try await store.loadLanes(partition: partition) { found.add($0) }
            #expect(
                found.all
                    == lanes.filter { Lanes.partition(of: $0.record.device) == partition }.sorted {
                        $0.record.device < $1.record.device
                    })
        }
    }

    @Test(arguments: Kind.allCases) func `L1: one lane is read again as it was written last`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(
            await store.landed { $0.lanes = [sampleLane("d1", user: "old"), sampleLane("d2", user: "other")] }
                == nothing)
        #expect(await store.landed { $0.lanes = [sampleLane("d1", generation: 9, user: "new")] } == nothing)
        #expect(
            try await store.loadLane(DeviceID(unchecked: "d1")) == sampleLane("d1", generation: 9, user: "new"))
        let home = partition(of: DeviceID(unchecked: "d1"))
        let neighbour = (0..<10_000).map { DeviceID(unchecked: "a\($0)") }.first { partition(of: $0) == home }
        #expect(try await store.loadLane(try #require(neighbour)) == nil)
        #expect(await store.landed { $0.removed = [DeviceID(unchecked: "d1")] } == nothing)
        #expect(try await store.loadLane(DeviceID(unchecked: "d1")) == nil)
    }

    @Test(arguments: Kind.allCases)
    func `L1: sessions are read again in order of id, the newest version of each`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let (nap, ride) = (sampleSession("nap", version: 3), sampleSession("ride"))
        #expect(await store.landed { $0.sessions = [ride, nap] } == nothing)
        // Only where another node may have written the newer one is that told.
        let older = await store.landed { $0.sessions = [sampleSession("nap", version: 2)] }
        #expect(older == (kind == .postgres ? .landed(refused: RefusedRows(sessions: ["nap"])) : nothing))
        #expect(try await store.allSessions() == [nap, ride])
        let changed = sampleSession("nap", version: 4)
        #expect(await store.landed { $0.sessions = [changed] } == nothing)
        #expect(try await store.allSessions() == [changed, ride])
    }

    @Test(arguments: Kind.allCases)
    func `a session stopped long ago is forgotten, one that runs is not`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let old = sampleSession("old").stopped(at: tenPM)
        let late = sampleSession("late").stopped(at: tenPM.advanced(bySeconds: 10))
        #expect(await store.landed { $0.sessions = [old, late, sampleSession("nap")] } == nothing)
        #expect(await store.landed { $0.forgetSessionsBefore = tenPM.advanced(bySeconds: 5) } == nothing)
        #expect(try await store.allSessions() == [late, sampleSession("nap")])
    }

    @Test(arguments: Kind.allCases)
    func `a lane of an older generation is refused with its claims, the others land`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(await store.landed { $0.lanes = [sampleLane("d1", generation: 5, user: "new")] } == nothing)
        let outcome = await store.landed {
            $0.lanes = [sampleLane("d1", generation: 4, user: "old"), sampleLane("d2")]
            $0.claims = [sampleClaim("d1", 0), sampleClaim("d2", 0)]
            $0.owners = [PhoneOwner(token: [1], device: DeviceID(unchecked: "d1"))]
        }
        #expect(
            outcome == .landed(refused: RefusedRows(lanes: [DeviceID(unchecked: "d1")], claims: [sampleClaim("d1", 0)]))
        )
        #expect(try await store.allLanes() == [sampleLane("d1", generation: 5, user: "new"), sampleLane("d2")])
        #expect(try await store.allOwners().isEmpty)
        #expect(await store.landed { $0.lanes = [sampleLane("d1", generation: 5, user: "again")] } == nothing)
        // The refused claim was not spent.
        #expect(await store.landed { $0.claims = [sampleClaim("d1", 0)] } == nothing)
    }

    @Test(arguments: Kind.allCases)
    func `Two daemons send everything twice: a claim succeeds once per device, night and ordinal`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(await store.landed { $0.claims = [sampleClaim("d1", 0)] } == nothing)
        let again = sampleClaim("d1", 0, at: tenPM.advanced(bySeconds: 9))
        let outcome = await store.landed {
            $0.lanes = [sampleLane("d1")]
            $0.claims = [again, sampleClaim("d1", 1)]
        }
        #expect(outcome == .landed(refused: RefusedRows(claims: [again])))
        #expect(try await store.allLanes().count == 1)
        // Removed and back the same night, it still is spent (S6).
        #expect(await store.landed { $0.removed = [DeviceID(unchecked: "d1")] } == nothing)
        #expect(await store.landed { $0.claims = [again] } == .landed(refused: RefusedRows(claims: [again])))
    }

    @Test(arguments: Kind.allCases) func `S7: an owner row is unique by token, the last write has it`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let (one, two) = (DeviceID(unchecked: "d1"), DeviceID(unchecked: "d2"))
        #expect(
            await store.landed {
                $0.owners = [PhoneOwner(token: [1, 2], device: one), PhoneOwner(token: [3], device: one)]
            } == nothing)
        #expect(await store.landed { $0.owners = [PhoneOwner(token: [1, 2], device: two)] } == nothing)
        #expect(
            try await store.allOwners() == [
                PhoneOwner(token: [1, 2], device: two), PhoneOwner(token: [3], device: one),
            ])
        #expect(await store.landed { $0.removed = [one] } == nothing)
        #expect(try await store.allOwners() == [PhoneOwner(token: [1, 2], device: two)])
    }

    @Test(arguments: Kind.allCases) func `P5: a timestamp mark never falls`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(try await store.timestampMark(partition: 3) == nil)
        #expect(await store.landed { $0.marks = [3: 100, 4: 7] } == nothing)
        #expect(await store.landed { $0.marks = [3: 90] } == nothing)
        #expect(try await store.timestampMark(partition: 3) == 100)
        #expect(try await store.timestampMark(partition: 4) == 7)
    }

    @Test(arguments: Kind.allCases) func `the slate's lines come back as they came, old ones forgotten`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        var random = Seeded(3)
        let lines = (0..<50).map { ArrivedLine(line: random.line(), at: tenPM.advanced(bySeconds: Double($0 / 2))) }
        #expect(await store.landed { $0.slateLines = Array(lines[..<20]) } == nothing)
        #expect(await store.landed { $0.slateLines = Array(lines[20...]) } == nothing)
        #expect(try await store.loadSlate(since: .distantPast) == lines)
        #expect(try await store.loadSlate(since: tenPM.advanced(bySeconds: 5)) == Array(lines[10...]))
        #expect(await store.landed { $0.forgetSlateBefore = tenPM.advanced(bySeconds: 2) } == nothing)
        #expect(try await store.loadSlate(since: .distantPast) == Array(lines[4...]))
    }

    @Test(arguments: Kind.allCases)
    func `a timeline is read on from a number, of one device or of all, and goes with its device`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let (one, two) = (DeviceID(unchecked: "d1"), DeviceID(unchecked: "d2"))
        for turn in 0..<40 {
            // Entries of one turn share a row: pages cut through it.
            #expect(
                await store.landed {
                    $0.timeline = [
                        sampleRow("d1", "\(turn)a"), sampleRow("d1", "\(turn)b"), sampleRow("d2", "\(turn)c"),
                        sampleRow("d1", "\(turn)d"),
                    ]
                } == nothing)
        }
        let all = try await store.timeline(device: nil, after: nil, limit: 1000)
        #expect(all.map(\.row.entry.detail) == (0..<40).flatMap { turn in "abcd".map { "\(turn)\($0)" } })
        #expect(all.map(\.sequence) == Set(all.map(\.sequence)).sorted())
        #expect(all[2].row == sampleRow("d2", "0c"))
        for device in [nil, one, two] {
            let expected = all.filter { device == nil || $0.row.device == device }
            for limit in [1, 2, 3, 7, 1000] {
                var read: [SequencedTimelineRow] = []
                var after: Int64 = 0
                while let last = try await store.timeline(device: device, after: after, limit: limit).last {
                    read += try await store.timeline(device: device, after: after, limit: limit)
                    after = last.sequence
                }
                #expect(read == expected, "limit \(limit)")
                #expect(
                    try await store.timeline(device: device, after: nil, limit: limit) == expected.suffix(limit),
                    "limit \(limit)")
            }
        }
        #expect(try await store.timeline(device: nil, after: .max, limit: 9).isEmpty)
        #expect(try await store.timeline(device: nil, after: .min, limit: 1) == Array(all.prefix(1)))
        #expect(try await store.timeline(device: nil, after: nil, limit: 0).isEmpty)
        #expect(await store.landed { $0.removed = [one] } == nothing)
        #expect(try await store.timeline(device: one, after: nil, limit: 9).isEmpty)
        #expect(try await store.timeline(device: nil, after: nil, limit: 99).count == 40)
    }

    @Test(arguments: Kind.allCases) func `gateways stay paused until they are resumed`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(try await store.pausedGateways().isEmpty)
        #expect(await store.landed { $0.pauses = [.production: true, .sandbox: true] } == nothing)
        #expect(await store.landed { $0.pauses = [.production: true] } == nothing)
        #expect(try await store.pausedGateways() == [.production, .sandbox])
        #expect(await store.landed { $0.pauses = [.production: false] } == nothing)
        #expect(await store.landed { $0.pauses = [.production: false] } == nothing)
        #expect(try await store.pausedGateways() == [.sandbox])
    }

    @Test(arguments: Kind.allCases) func `a removed lane is gone; an empty batch lands`(kind: Kind) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(await store.landed { _ in } == nothing)
        #expect(await store.landed { $0.lanes = [sampleLane("d1"), sampleLane("d2")] } == nothing)
        #expect(
            await store.landed { $0.removed = [DeviceID(unchecked: "d1"), DeviceID(unchecked: "none")] } == nothing)
        #expect(try await store.allLanes() == [sampleLane("d2")])
    }

    @Test(arguments: Kind.allCases)
    func `batches offered at once each get their own outcome, in order, and the last write stands`(kind: Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let outcomes = await withTaskGroup(of: (Int, CommitOutcome).self) { group in
            for number in 0..<200 {
                group.addTask {
                    (
                        number,
                        await store.landed {
                            $0.lanes = [sampleLane("d\(number % 10)", user: "\(number)")]
                            $0.claims = [sampleClaim("shared", number % 50)]
                        }
                    )
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 200)
        let refused = outcomes.values.count { $0 != nothing }
        #expect(refused == 150)
        #expect(try await store.allLanes().count == 10)
    }
}
