import CardRules
import Intake
import Lanes
import Measuring

/// Bytes that a phone costs in memory, by what it is doing. Each is the growth of what the process has asked of the C
/// library, over so many of them.
struct MemoryUse: Sendable {
    private let options: Options
    private let lanes: Int

    init(_ options: Options) {
        self.options = options
        lanes = options.sizes?.first ?? (options.isQuick ? 20_000 : 100_000)
    }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        report.conditions = [
            "\(grouped(lanes)) phones, 5 to 8 games followed, ids of 36 bytes, tokens of 80; seed \(options.seed)",
            "read from SQLite, as after a restart; both wheels of the shards (2.2 MB each) are in it",
            "counted by the C library (mallinfo2, one arena) and by the kernel (resident pages)",
            "a LaneState alone is \(MemoryLayout<LaneState>.size) bytes, a LaneRecord in it \(MemoryLayout<LaneRecord>.size), "
                + "a Card \(MemoryLayout<Card>.size)",
        ]
        var table = Table("Bytes each", ["what", "asked of the C library", "resident"])
        let cases: [(String, String, LaneMemory)] = [
            (
                "an idle lane, game ids of 14 bytes", "idle-lane",
                LaneMemory(lanes, withCard: 0, longNames: false, options)
            ),
            (
                "an idle lane, game ids of 22 bytes", "idle-lane-long-ids",
                LaneMemory(lanes, withCard: 0, longNames: true, options)
            ),
            (
                "a lane with a card, game ids of 14 bytes", "card-lane",
                LaneMemory(lanes, withCard: 1, longNames: false, options)
            ),
            (
                "a lane with a card, game ids of 22 bytes", "card-lane-long-ids",
                LaneMemory(lanes, withCard: 1, longNames: true, options)
            ),
        ]
        var pushes: [(String, String, BytesEach)] = []
        for (place, (name, key, one)) in cases.enumerated() {
            say("memory: \(name)")
            let found = try blocking { try await one.run() }
            // Pages that earlier cases gave back are used again by later ones: they show no growth.
            table.rows.append([name, shown(found.lane.inUse), place == 0 ? shown(found.lane.resident) : "-"])
            report.figure("\(key)-bytes", found.lane.inUse, .bytes)
            if place == 0 { report.figure("\(key)-resident-bytes", found.lane.resident, .bytes) }
            if let push = found.push { pushes.append((name, key, push)) }
        }
        for (name, key, push) in pushes {
            table.rows.append(["a push under way, in lane, shard and a list: \(name)", shown(push.inUse), "-"])
            report.figure("push-under-way-of-\(key)-bytes", push.inUse, .bytes)
        }
        let waiting = try PoolMemory(pushes: lanes).run()
        table.rows.append(["a push that waits in the pool", shown(waiting.inUse), "-"])
        report.figure("waiting-push-bytes", waiting.inUse, .bytes)
        let wheel = deadline()
        table.rows.append(["a deadline (in the lane's above)", shown(wheel.inUse), "-"])
        report.figure("deadline-bytes", wheel.inUse, .bytes)
        report.tables = [table]
        return report
    }

    private func deadline() -> BytesEach {
        var wheel = DeadlineWheel(now: MadeUpSlate.evening)
        let before = Held()
        wheel.grow(to: lanes)
        for lane in 0..<lanes { wheel.arm(lane, at: MadeUpSlate.evening.advanced(bySeconds: Double(lane))) }
        let each = Held().growth(since: before, over: lanes)
        return wheel.armed == lanes ? each : BytesEach(inUse: 0, resident: 0)
    }
}

/// What the process holds at one moment.
struct Held: Sendable {
    let inUse = Memory.inUseBytes
    let resident = Memory.residentBytes

    func growth(since before: Held, over count: Int) -> BytesEach {
        BytesEach(
            inUse: Double(inUse - before.inUse) / Double(count),
            resident: Double(resident - before.resident) / Double(count))
    }
}

struct BytesEach: Sendable {
    let inUse: Double
    let resident: Double
}
