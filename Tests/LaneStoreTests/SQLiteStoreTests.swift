import CardRules
import Foundation
import Lanes
import Testing

@testable import LaneStore

@Suite struct SQLiteStoreTests {
    private let folder: TemporaryFolder
    private let nothing = CommitOutcome.landed(refused: RefusedRows())
    init() throws { folder = try TemporaryFolder() }

    @Test func `L1: what has landed is there after the process is gone`() async throws {
        let first = try SQLiteStore.open(path: folder.store)
        let outcome = await first.landed {
            $0.lanes = [sampleLane("d1", generation: 3, user: "u")]
            $0.claims = [sampleClaim("d1", 0)]
            $0.owners = [PhoneOwner(token: [9], device: DeviceID(unchecked: "d1"))]
            $0.marks = [1: 5]
            $0.timeline = [sampleRow("d1", "one"), sampleRow("d1", "two")]
        }
        #expect(outcome == nothing)
        // A copy of the files as they are now is what a crash would leave.
        let crashed = folder.url.appending(path: "crashed.db").path
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: crashed + suffix)
        }
        await first.close()
        for path in [folder.store, crashed] {
            let store = try SQLiteStore.open(path: path)
            #expect(try await store.allLanes() == [sampleLane("d1", generation: 3, user: "u")])
            #expect(
                await store.landed { $0.claims = [sampleClaim("d1", 0)] }
                    == .landed(refused: RefusedRows(claims: [sampleClaim("d1", 0)])))
            #expect(try await store.allOwners().count == 1)
            #expect(try await store.timestampMark(partition: 1) == 5)
            #expect(
                try await store.timeline(device: DeviceID(unchecked: "d1"), after: nil, limit: 9)
                    .map(\.row.entry.detail) == ["one", "two"])
            await store.close()
        }
    }

    @Test func `a second daemon on the same file is told so at its start, and may open it when the first is gone`()
        async throws
    {
        let first = try SQLiteStore.open(path: folder.store)
        #expect(throws: StoreError.inUse(path: folder.store)) { try SQLiteStore.open(path: folder.store) }
        await first.close()
        await (try SQLiteStore.open(path: folder.store)).close()
    }

    @Test func `a second daemon on the same file by another name is told so too`() async throws {
        let link = folder.store + ".link"
        let first = try SQLiteStore.open(path: folder.store)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.store)
        #expect(throws: StoreError.inUse(path: link)) { try SQLiteStore.open(path: link) }
        await first.close()
        await (try SQLiteStore.open(path: link)).close()
    }

    @Test func `two daemons, fenced: when a newer owner has the file nothing more is written`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        let thief = try SQLiteConnection(path: folder.store)
        try thief.run("UPDATE store SET epoch = epoch + 1")
        #expect(await store.landed { $0.lanes = [sampleLane("d2")] } == .failed(.fenced))
        try thief.run("UPDATE store SET epoch = epoch - 1")
        #expect(await store.landed { $0.lanes = [sampleLane("d3")] } == .failed(.fenced))
        #expect(try await store.allLanes() == [sampleLane("d1")])
        await store.close()
    }

    @Test func `L1: a file of the oldest schema opens, with its lanes, and keeps sessions and pauses from then on`()
        async throws
    {
        do {
            let connection = try SQLiteConnection(path: folder.store)
            try connection.run(SQLiteSchema.steps[0] + " PRAGMA user_version = 1;")
            let place = Lanes.partition(of: recordOfVersion1.device)
            let insert = try connection.prepare("INSERT INTO lane VALUES (?1, ?2, ?3, ?4)")
            try insert.run(
                .integer(Int64(place)), .text(recordOfVersion1.device.text), .integer(4), .blob(goldenRecord1()))
            let entries = try connection.prepare("INSERT INTO timeline VALUES (?1, ?2, 1, 0, ?3)")
            try entries.run(.integer(Int64(place)), .text(recordOfVersion1.device.text), .blob(timelineOfVersion1()))
        }
        let store = try SQLiteStore.open(path: folder.store)
        #expect(try await store.allLanes() == [StoredLane(record: recordOfVersion1, generation: Generation(4))])
        let entry = try await store.timeline(device: recordOfVersion1.device, after: nil, limit: 1).first?.row.entry
        #expect(entry?.detail == "quiet hours" && entry?.changesWhen == nil && entry?.rule == .s5)
        let session = sampleSession("nap")
        #expect(await store.landed { $0.sessions = [session] } == nothing)
        #expect(try await store.allSessions() == [session])
        #expect(try await store.pausedGateways().isEmpty)
        #expect(await store.landed { $0.pauses = [.sandbox: true] } == nothing)
        await store.close()
        let again = try SQLiteStore.open(path: folder.store)
        #expect(try await again.allSessions() == [session])
        #expect(try await again.pausedGateways() == [.sandbox])
        await again.close()
    }

    @Test(arguments: SQLiteSchema.steps.indices)
    func `an upgrade from every earlier version leads to the same tables`(version: Int) async throws {
        let fresh = folder.url.appending(path: "fresh.db").path
        do {
            let connection = try SQLiteConnection(path: folder.store)
            for (index, step) in SQLiteSchema.steps.enumerated().prefix(version) {
                try connection.run("\(step) PRAGMA user_version = \(index + 1);")
            }
        }
        func shape(_ path: String) async throws -> [String] {
            await (try SQLiteStore.open(path: path)).close()
            var lines: [String] = []
            try SQLiteConnection(path: path).prepare(
                "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_schema UNION ALL SELECT user_version FROM pragma_user_version"
            ).rows { row throws(StoreError) in lines.append(row.text(0)) }
            return lines.sorted()
        }
        #expect(try await shape(folder.store) == shape(fresh))
    }

    @Test func `a file of a newer version is refused and left alone`() async throws {
        await (try SQLiteStore.open(path: folder.store)).close()
        do {
            let connection = try SQLiteConnection(path: folder.store)
            try connection.run("PRAGMA user_version = 99")
        }
        #expect(throws: StoreError.newerSchema(found: 99, known: SQLiteSchema.steps.count)) {
            try SQLiteStore.open(path: folder.store)
        }
    }

    @Test func `a row that does not parse names table, key and field, and the others can be read`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        #expect(await store.landed { $0.lanes = [sampleLane("d1"), sampleLane("d2")] } == nothing)
        do {
            let other = try SQLiteConnection(path: folder.store)
            try other.run("UPDATE lane SET body = substr(body, 1, 3) WHERE device = 'd1'")
        }
        let bad = Lanes.partition(of: DeviceID(unchecked: "d1"))
        let damaged = try await store.loadLanes(partition: bad) { _ in }
        #expect(damaged == [DamagedLane(key: "d1", detail: "device: the bytes end at 2")])
        let good = Lanes.partition(of: DeviceID(unchecked: "d2"))
        let found = Gathered<StoredLane>()
        _ = try await store.loadLanes(partition: good) { found.add($0) }
        #expect(found.all == [sampleLane("d2")])
        await store.close()
    }

    @Test func `a damaged file is refused with what the check found`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        let many = (0..<2000).map { sampleLane("d\($0)") }
        #expect(await store.landed { $0.lanes = many } == nothing)
        await store.close()
        let handle = try #require(FileHandle(forUpdatingAtPath: folder.store))
        for page in 4..<20 {
            try handle.seek(toOffset: UInt64(page * 8192 + 8))
            try handle.write(contentsOf: Data(repeating: 0xff, count: 4000))
        }
        try handle.close()
        let error = #expect(throws: StoreError.self) { try SQLiteStore.open(path: folder.store) }
        guard case .corrupt("file", folder.store, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try Data("no database at all, but long enough to be read as one".utf8).write(to: URL(filePath: folder.store))
        let nonsense = #expect(throws: StoreError.self) { try SQLiteStore.open(path: folder.store) }
        guard case .corrupt("file", folder.store, _)? = nonsense else {
            Issue.record("\(String(describing: nonsense))")
            return
        }
    }

    @Test func `a folder that is not there says so`() {
        let error = #expect(throws: StoreError.self) { try SQLiteStore.open(path: "/nowhere/at/all.db") }
        guard case .unavailable(let detail)? = error else { return }
        #expect(detail.contains("/nowhere/at/all.db"))
    }

    @Test func `closed, it takes nothing more, and still answers`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        await store.close()
        #expect(
            await store.landed { $0.lanes = [sampleLane("d1")] } == .failed(.unavailable(detail: "the store is closed"))
        )
        await #expect(throws: StoreError.unavailable(detail: "the store is closed")) {
            try await store.timestampMark(partition: 0)
        }
    }

    @Test func `what was offered before the close is written by it`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        let landed = Locked(0)
        for number in 0..<500 {
            var batch = CommitBatch()
            batch.lanes = [sampleLane("d\(number)")]
            store.commit(batch) { if case .landed = $0 { landed.change { $0 += 1 } } }
        }
        await store.close()
        #expect(landed.change { $0 } == 500)
        let again = try SQLiteStore.open(path: folder.store)
        #expect(try await again.allLanes().count == 500)
        await again.close()
    }

    @Test func `a failed commit writes nothing of any batch that shared it`() async throws {
        let store = try SQLiteStore.open(path: folder.store)
        do {
            let other = try SQLiteConnection(path: folder.store)
            try other.run(
                "CREATE TRIGGER refuse BEFORE INSERT ON lane WHEN NEW.device = 'bad' BEGIN SELECT RAISE(ABORT, 'disk'); END"
            )
        }
        let outcome = await store.landed {
            $0.lanes = [sampleLane("good"), sampleLane("bad")]
            $0.claims = [sampleClaim("good", 0)]
        }
        guard case .failed(.unavailable) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try await store.allLanes().isEmpty)
        #expect(
            await store.landed {
                $0.lanes = [sampleLane("good")]
                $0.claims = [sampleClaim("good", 0)]
            } == nothing)
        await store.close()
    }

    @Test func `L1: a commit is flushed before it is answered`() throws {
        let writer = try SQLiteWriter(path: folder.store, settings: SQLiteStore.Settings())
        var found: [String] = []
        for pragma in ["journal_mode", "synchronous", "page_size"] {
            try writer.connection.prepare("PRAGMA \(pragma)").rows { row throws(StoreError) in found.append(row.text(0))
            }
        }
        #expect(found == ["wal", "2", "8192"])  // 2 is FULL
    }

    @Test func `the timeline is numbered, and bounded in age`() async throws {
        var settings = SQLiteStore.Settings()
        settings.timelineSeconds = 100
        let store = try SQLiteStore.open(path: folder.store, settings: settings)
        let device = DeviceID(unchecked: "d1")
        for turn in 0..<30 {
            let at = tenPM.advanced(bySeconds: Double(turn * 10))
            #expect(
                await store.landed {
                    $0.timeline = [
                        sampleRow("d1", "\(turn)a", at: at), sampleRow("d1", "\(turn)b", at: at),
                        sampleRow("d2", "x", at: at),
                    ]
                } == nothing)
        }
        let all = try await store.timeline(device: device, after: nil, limit: 1000)
        #expect(all.last?.row == sampleRow("d1", "29b", at: tenPM.advanced(bySeconds: 290)))
        #expect(all.first?.row.entry.detail == "19a")
        let page = try await store.timeline(device: device, after: all[2].sequence, limit: 3)
        #expect(page.map(\.row.entry.detail) == ["20b", "21a", "21b"])
        await store.close()
    }

    @Test(arguments: ["removed", "forgotten"])
    func `a timeline number is never given twice, also when the newest entries are gone`(how: String) async throws {
        let store = try SQLiteStore.open(path: folder.store)
        let device = DeviceID(unchecked: "d1")
        #expect(await store.landed { $0.timeline = (0..<200).map { sampleRow("d1", "\($0)") } } == nothing)
        let last = try #require(try await store.timeline(device: nil, after: nil, limit: 1).first?.sequence)
        if how == "removed" {
            #expect(await store.landed { $0.removed = [device] } == nothing)
        } else {
            let later = tenPM.advanced(bySeconds: 3 * 86_400)
            #expect(await store.landed { $0.claims = [sampleClaim("d2", 0, at: later)] } == nothing)
        }
        #expect(try await store.timeline(device: nil, after: nil, limit: 1).isEmpty)
        await store.close()
        let again = try SQLiteStore.open(path: folder.store)
        let row = sampleRow("d1", "new", at: tenPM.advanced(bySeconds: 4 * 86_400))
        #expect(await again.landed { $0.timeline = [row] } == nothing)
        let found = try await again.timeline(device: nil, after: last, limit: 9)
        #expect(found.map(\.row.entry.detail) == ["new"])
        await again.close()
    }

    @Test func `the write-ahead log is cut when it is long`() async throws {
        var settings = SQLiteStore.Settings()
        settings.maxLogBytes = 1 << 20
        settings.idleLogBytes = 1 << 20
        let store = try SQLiteStore.open(path: folder.store, settings: settings)
        for round in 0..<40 {
            let lanes = (0..<500).map { sampleLane("d\($0)", user: "\(round)") }
            #expect(await store.landed { $0.lanes = lanes } == nothing)
        }
        _ = try await store.timestampMark(partition: 0)
        #expect(walBytes(of: folder.store) < 4 << 20)
        #expect(try await store.allLanes().count == 500)
        await store.close()
    }
}
