import CardRules
import LaneStore
import Lanes
import Testing

/// What every store that outlives its program must do.
@Suite struct StoreRestartTests {
    private let nothing = CommitOutcome.landed(refused: RefusedRows())
    private static let kinds: [StoreBench.Kind] = [.sqlite, .postgres]

    @Test(arguments: kinds) func `L1: all that has landed is there for the next program`(kind: StoreBench.Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let first = try await bench.open()
        let line = Seeded.one(5) { $0.line() }
        #expect(
            await first.landed {
                $0.lanes = [sampleLane("d1", generation: 3, user: "u"), sampleLane("d2")]
                $0.claims = [sampleClaim("d1", 0)]
                $0.owners = [PhoneOwner(token: [9], device: DeviceID(unchecked: "d1"))]
                $0.marks = [1: 5]
                $0.timeline = [sampleRow("d1", "one"), sampleRow("d1", "two")]
                $0.slateLines = [ArrivedLine(line: line, at: tenPM)]
                $0.sessions = [sampleSession("nap")]
                $0.pauses = [.sandbox: true]
            } == nothing)
        let store = try await bench.reopen(first)
        #expect(try await store.allLanes() == [sampleLane("d1", generation: 3, user: "u"), sampleLane("d2")])
        #expect(
            await store.landed { $0.claims = [sampleClaim("d1", 0)] }
                == .landed(refused: RefusedRows(claims: [sampleClaim("d1", 0)])))
        #expect(
            await store.landed { $0.lanes = [sampleLane("d1", generation: 2)] }
                == .landed(refused: RefusedRows(lanes: [DeviceID(unchecked: "d1")])))
        #expect(try await store.allOwners() == [PhoneOwner(token: [9], device: DeviceID(unchecked: "d1"))])
        #expect(try await store.timestampMark(partition: 1) == 5)
        #expect(try await store.loadSlate(since: .distantPast) == [ArrivedLine(line: line, at: tenPM)])
        #expect(try await store.allSessions() == [sampleSession("nap")])
        #expect(try await store.pausedGateways() == [.sandbox])
        let timeline = try await store.timeline(device: nil, after: nil, limit: 9)
        #expect(timeline.map(\.row.entry.detail) == ["one", "two"])
        await bench.close(store)
    }

    @Test(arguments: kinds) func `restart: lanes load in order of device, in portions, each once`(kind: StoreBench.Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let home = partition(of: DeviceID(unchecked: "a0"))
        // Upper case stands before lower case, whatever the database's own order is.
        let names = (0..<300_000).map { "\($0 % 3 == 0 ? "B" : "a")\($0)" }
            .filter { partition(of: DeviceID(unchecked: $0)) == home }
        #expect(names.count > 4100)
        let lanes = names.map { sampleLane($0) }
        for start in stride(from: 0, to: lanes.count, by: 1000) {
            #expect(await store.landed { $0.lanes = Array(lanes[start..<min(start + 1000, lanes.count)]) } == nothing)
        }
        let portions = Gathered<[StoredLane]>()
        _ = try await store.loadLanes(partition: home) { portions.add([$0]) }
        #expect(portions.all.count > 1)
        #expect(portions.all.flatMap(\.self).map(\.record.device.text) == names.sorted())
        _ = try await store.loadLanes(partition: (home + 1) % partitionCount) { portions.add([$0]) }
        #expect(portions.all.flatMap(\.self).count == names.count)
        await bench.close(store)
    }

    @Test(arguments: kinds, ["removed", "kept"])
    func `a timeline number is never given twice, over restarts, also when the newest entries are gone`(
        kind: StoreBench.Kind, how: String
    ) async throws {
        let bench = try await StoreBench(kind)
        let first = try await bench.open()
        #expect(await first.landed { $0.timeline = (0..<200).map { sampleRow("d1", "\($0)") } } == nothing)
        let last = try #require(try await first.timeline(device: nil, after: nil, limit: 1).first?.sequence)
        if how == "removed" { #expect(await first.landed { $0.removed = [DeviceID(unchecked: "d1")] } == nothing) }
        let store = try await bench.reopen(first)
        #expect(await store.landed { $0.timeline = [sampleRow("d1", "new")] } == nothing)
        let found = try await store.timeline(device: nil, after: last, limit: 9)
        #expect(found.map(\.row.entry.detail) == ["new"])
        await bench.close(store)
    }

    @Test(arguments: kinds) func `the timeline is bounded in age`(kind: StoreBench.Kind) async throws {
        let bench = try await StoreBench(kind)
        var store = try await bench.open()
        for hour in 0..<50 {
            let at = tenPM.advanced(bySeconds: Double(hour) * 3600)
            #expect(await store.landed { $0.timeline = [sampleRow("d1", "\(hour)", at: at)] } == nothing)
            #expect(await store.landed { $0.claims = [sampleClaim("d1", hour, at: at)] } == nothing)
        }
        store = try await bench.reopen(store)
        let all = try await store.timeline(device: nil, after: nil, limit: 99)
        #expect(all.map(\.row.entry.detail) == (13..<50).map { "\($0)" })
        // Claims stay far beyond their night.
        #expect(await store.landed { $0.claims = [sampleClaim("d1", 0)] } != nothing)
        for hour in [150.0, 152] {
            let late = tenPM.advanced(bySeconds: hour * 3600)
            #expect(await store.landed { $0.claims = [sampleClaim("d2", Int(hour), at: late)] } == nothing)
        }
        store = try await bench.reopen(store)
        #expect(await store.landed { $0.claims = [sampleClaim("d1", 0)] } == nothing)
        await bench.close(store)
    }

    @Test(arguments: kinds)
    func `whoever reads on from the last number while others write misses no entry`(kind: StoreBench.Kind) async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        // Every device of a partition of its own, so that commits go at the same time.
        let devices = (0..<8).compactMap { place in
            (0..<10_000).lazy.map { "t\($0)" }.first { partition(of: DeviceID(unchecked: $0)) == place * 7 }
        }
        let writing = Locked(devices.count)
        let read = try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    for turn in 0..<25 {
                        _ = await store.landed { $0.timeline = [sampleRow(device, "\(turn)"), sampleRow(device, "+")] }
                    }
                    writing.change { $0 -= 1 }
                }
            }
            var read: [SequencedTimelineRow] = []
            while true {
                let isLast = writing.change { $0 } == 0
                read += try await store.timeline(device: nil, after: read.last?.sequence ?? 0, limit: 1000)
                if isLast { return read }
            }
        }
        #expect(read.count == devices.count * 50)
        #expect(read == (try await store.timeline(device: nil, after: 0, limit: 1000)))
        await bench.close(store)
    }

    @Test(arguments: kinds) func `a row that does not parse names table, key and field, and stays`(
        kind: StoreBench.Kind
    ) async throws {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        #expect(
            await store.landed {
                $0.lanes = [sampleLane("d1"), sampleLane("d2")]
                $0.sessions = [sampleSession("nap")]
                $0.timeline = [sampleRow("d1", "one")]
                $0.slateLines = [ArrivedLine(line: Seeded.one(5) { $0.line() }, at: tenPM)]
            } == nothing)
        for table in ["lane", "session", "timeline", "slate_line"] {
            try await bench.meddle("UPDATE \(table) SET body = substr(body, 1, 3)")
        }
        let device = DeviceID(unchecked: "d1")
        await #expect(throws: StoreError.corrupt(table: "lane", key: "d1", detail: "device: the bytes end at 2")) {
            try await store.loadLane(device)
        }
        let damaged = try await store.loadLanes(partition: partition(of: DeviceID(unchecked: "d2"))) { _ in }
        #expect(damaged == [DamagedLane(key: "d2", detail: "device: the bytes end at 2")])
        for (table, read) in [
            ("session", { _ = try await store.allSessions() }),
            ("timeline", { _ = try await store.timeline(device: device, after: nil, limit: 1) }),
            ("slate_line", { _ = try await store.loadSlate(since: .distantPast) }),
        ] as [(String, () async throws -> Void)] {
            let error = await #expect(throws: StoreError.self) { try await read() }
            guard case .corrupt(table, _, _)? = error else {
                Issue.record("\(table): \(String(describing: error))")
                continue
            }
        }
        #expect(await store.landed { $0.lanes = [sampleLane("d1", generation: 2)] } == nothing)
        #expect(try await store.loadLane(device) == sampleLane("d1", generation: 2))
        await bench.close(store)
    }

    @Test(arguments: kinds) func `closed, it takes nothing more, and still answers`(kind: StoreBench.Kind) async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        await bench.close(store)
        let closed = StoreError.unavailable(detail: "the store is closed")
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == .failed(closed))
        await #expect(throws: closed) { try await store.timestampMark(partition: 0) }
    }

    @Test(arguments: kinds) func `what was offered before the close is written by it`(kind: StoreBench.Kind)
        async throws
    {
        let bench = try await StoreBench(kind)
        let store = try await bench.open()
        let landed = Locked(0)
        for number in 0..<500 {
            var batch = CommitBatch()
            batch.lanes = [sampleLane("d\(number)")]
            store.commit(batch) { if case .landed = $0 { landed.change { $0 += 1 } } }
        }
        let again = try await bench.reopen(store)
        #expect(landed.change { $0 } == 500)
        #expect(try await again.allLanes().count == 500)
        await bench.close(again)
    }

    @Test(arguments: kinds)
    func `Two daemons during a deploy: the newer owner writes, the older one is refused everything (known fault 19)`(
        kind: StoreBench.Kind
    ) async throws {
        let bench = try await StoreBench(kind)
        let old = try await bench.open()
        #expect(await old.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        let new: (any Store)?
        if kind == .postgres {
            new = try await bench.open()
        } else {
            // A file is locked: only somebody who gets past that can be newer.
            new = nil
            try await bench.meddle("UPDATE store SET epoch = epoch + 1")
        }
        let outcome = await old.landed {
            $0.lanes = [sampleLane("d2")]
            $0.claims = [sampleClaim("d2", 0)]
        }
        #expect(outcome == .failed(.fenced))
        if let new {
            #expect(await new.landed { $0.claims = [sampleClaim("d2", 0)] } == nothing)
            #expect(try await new.allLanes() == [sampleLane("d1")])
            await bench.close(new)
        }
        await bench.close(old)
    }
}

extension Seeded {
    static func one<Value>(_ seed: UInt64, _ make: (inout Seeded) -> Value) -> Value {
        var random = Seeded(seed)
        return make(&random)
    }
}
