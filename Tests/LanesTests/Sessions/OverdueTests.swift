import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// R7: what fell due while nobody was there.
@Suite(.timeLimit(.minutes(5))) struct OverdueTests {
    @Test func `R7, After a restart every overdue timer fires at once: nearest limit first, two hundred a second`()
        async throws
    {
        let rig = Rig()
        let count = 1000
        let began = Rig.evening.advanced(bySeconds: -27_900)
        var batch = CommitBatch()
        for number in 0..<count {
            // Ages of 7 h 45 min to 7 h 48 min, in no order.
            let age = began.advanced(bySeconds: -Double(number * 7919 % 180))
            let device = DeviceID(unchecked: "phone-\(number)")
            batch.lanes.append(StoredLane(record: Self.record(device, age: age), generation: Generation(1)))
        }
        let terms = Rig.terms((0..<count).map { DeviceID(unchecked: "phone-\($0)") }, startedAt: began)
        batch.sessions = [Session.opened("nap", terms)]
        let made = batch
        _ = await withCheckedContinuation { done in rig.store.commit(made) { done.resume(returning: $0) } }
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            await rig.live(0, system)
            await rig.live(Double(count) / 200 + 2, system)
            let starts = rig.pusher.sent(.start)
            #expect(starts.count == count)
            let times = rig.store.claims.map(\.at)
            #expect(times.count == count)
            let first = try #require(times.min())
            for second in 0..<(count / 200) {
                let from = first.advanced(bySeconds: Double(second))
                let inside = times.count { $0 >= from && $0 < from.advanced(bySeconds: 1) }
                #expect(inside <= 200 && inside >= 150, "second \(second): \(inside)")
            }
            // Nearest limit first, to the tenth of a second that the deadlines have.
            let ages = starts.map { number(of: $0.ticket.device) * 7919 % 180 }
            let disorder = zip(ages, ages.dropFirst()).count { $0 < $1 - 8 }
            #expect(disorder == 0)
        }
    }

    private func number(of device: DeviceID) -> Int { Int(device.text.dropFirst(6)) ?? 0 }

    private static func record(_ device: DeviceID, age: WallTime) -> LaneRecord {
        var record = LaneRecord(
            device: device, app: Rig.app,
            ledger: NightLedger(
                from: Rig.evening.advanced(bySeconds: -50_400), to: Rig.evening.advanced(bySeconds: 36_000)))
        record.settings.user = "owner"
        record.settings.osVersion = OSVersion(major: 18, minor: 0)
        record.pushToStart = PushToStart(
            address: PushAddress(token: Array(device.text.utf8), gateway: .production), reportedAt: age,
            ownership: .owner)
        var card = Card(key: "nap", state: .confirmed, startedBy: .push)
        card.ageBegan = age
        card.claimedAt = age
        card.activity = ActivityID(unchecked: "\(device)-1")
        card.updateAddress = PushAddress(token: Array("u-\(device)".utf8), gateway: .production)
        record.cards = [card]
        record.sessions = [SessionMember(key: "nap", version: 1)]
        return record
    }
}
