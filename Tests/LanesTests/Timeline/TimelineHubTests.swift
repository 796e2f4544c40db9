import CardRules
import Simulation
import Synchronization
import Testing

@testable import Lanes

@Suite struct TimelineHubTests {
    private func row(_ device: DeviceID) -> TimelineRow {
        TimelineRow(
            device: device, entry: TimelineEntry(at: Rig.evening, key: nil, kind: .sync, rule: nil, detail: "x"),
            apnsID: nil, push: nil)
    }

    /// How often a follower is told, once it no longer follows.
    private func told(_ follower: TimelineSubscription) async -> Int {
        follower.cancel()
        var count = 0
        for await _ in follower.news { count += 1 }
        return count
    }

    @Test func `a follower is told once, however much came, of its own device or of all`() async throws {
        let hub = TimelineHub(followersAtMost: 9)
        let all = try #require(hub.subscribe(device: nil))
        let one = try #require(hub.subscribe(device: "p1"))
        let other = try #require(hub.subscribe(device: "p2"))
        for _ in 0..<5 { hub.tell([row("p1"), row("p3"), row("p1")]) }
        hub.tell([])
        #expect(await told(all) == 1)
        #expect(await told(one) == 1)
        #expect(await told(other) == 0)
        #expect(hub.followers == 0)
    }

    @Test func `followers are bounded, and a place that is given up or forgotten is free again`() throws {
        let hub = TimelineHub(followersAtMost: 2)
        let first = try #require(hub.subscribe(device: "p1"))
        do {
            let second = hub.subscribe(device: nil)
            #expect(second != nil && hub.subscribe(device: nil) == nil)
        }
        #expect(hub.followers == 1)
        first.cancel()
        first.cancel()
        #expect(hub.followers == 0)
    }

    @Test func `what a follower is told of can be read, and nothing falls in between`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            let follower = try #require(system.hub.subscribe(device: "p1"))
            _ = await rig.register("p1", on: system)
            _ = await rig.register("p2", on: system)
            var news = follower.news.makeAsyncIterator()
            #expect(await news.next() != nil)
            let entries = try await system.timeline(device: "p1", after: nil, limit: 9)
            #expect(entries.map(\.row.entry.kind).contains(.sync) && entries.allSatisfy { $0.row.device == "p1" })
            try await rig.play(on: system)
            await system.settle()
            #expect(await news.next() != nil)
            let last = try #require(entries.last?.sequence)
            let more = try await system.timeline(device: "p1", after: last, limit: 9)
            #expect(more.contains { $0.row.entry.kind == .start && $0.row.entry.rule == .s4 })
        }
    }

    @Test func `a row with which nothing else is written is written within a second`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            try await rig.play(on: system)
            await system.settle()
            _ = await system.answer(to: Rig.cardToken(), for: "p1")
            await system.settle()
            let before = rig.store.timeline.count
            _ = await system.answer(
                to: .madeUpMoment(game: "nobody", kind: .overtime, until: rig.clock.now.advanced(bySeconds: 9)),
                for: "p1")
            await system.settle()
            #expect(rig.store.timeline.count > before)
            let known = rig.store.timeline.count
            system.submit(
                DeviceCall(
                    device: "p1",
                    event: .madeUpMoment(game: "none", kind: .overtime, until: rig.clock.now.advanced(bySeconds: 9))))
            await system.settle()
            #expect(rig.store.timeline.count == known)
            #expect(await system.nextDeadline.map { $0 <= rig.clock.now.advanced(bySeconds: 1) } == true)
            await rig.pass(1, system)
            await system.settle()
            #expect(rig.store.timeline.count == known + 1)
        }
    }
}
