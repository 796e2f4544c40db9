import CardRules
import Lanes
import Testing

@testable import LaneStore

@Suite struct LinkDeskTests {
    private func at(_ seconds: Double) -> SteadyTime { SteadyTime.zero.advanced(bySeconds: seconds) }

    @Test func `a post is said until it has landed, and its answer told once`() {
        var desk = LinkDesk(origin: 7)
        desk.connected()
        let heard = Locked<[DeviceReply]>([])
        #expect(desk.post("d1", [1], at: at(0)) { reply in heard.change { $0.append(reply) } } == nil)
        #expect(desk.post("d2", [2], at: at(0), hear: nil) == nil)
        let batch = desk.next()
        #expect(batch.posts.map(\.id.number) == [1, 2] && batch.words == ["inbox"])
        #expect(desk.next().posts.count == 2, "an attempt whose outcome is unknown is repeated under the same numbers")
        desk.landed(batch)
        #expect(desk.next().isEmpty)
        let reply = DeviceReply(answer: .unknownDevice, needsToken: true)
        desk.answer(1)?(reply)
        let (again, unasked) = (desk.answer(1), desk.answer(2))
        #expect(again == nil && unasked == nil)
        #expect(heard.change { $0 } == [reply])
        #expect(desk.next().finished == [1, 1, 2])
    }

    @Test func `a caller is told: done once it is durable and nobody answers, unavailable when it cannot be kept`() {
        var desk = LinkDesk(origin: 7)
        let heard = Locked<[DeviceAnswer]>([])
        let hear: @Sendable (DeviceReply) -> Void = { reply in heard.change { $0.append(reply.answer) } }
        #expect(desk.post("d1", [1], at: at(0), hear: hear) == .unavailable, "no connection yet")
        #expect(desk.post("d1", [1], at: at(0), hear: nil) == nil, "what a lane has to say waits for one")
        desk.connected()
        #expect(desk.post("d2", [2], at: at(0), hear: hear) == nil)
        desk.landed(desk.next())
        #expect(desk.post("d3", [3], at: at(4), hear: hear) == nil)
        #expect(desk.overdue(at: at(4.9), after: 5).count == 0)
        for (hear, answer) in desk.overdue(at: at(5), after: 5) { hear(DeviceReply(answer: answer, needsToken: false)) }
        for hear in desk.disconnected() { hear(DeviceReply(answer: .unavailable, needsToken: false)) }
        #expect(heard.change { $0 } == [.done, .unavailable])
        #expect(desk.next().posts.isEmpty, "what was told as not kept is not kept later")
    }

    @Test func `a posted row is handed over once a tenure, and again to the next`() {
        var desk = LinkDesk(origin: 7)
        let row = PostID(partition: 3, origin: 9, number: 1)
        desk.watch(3, epoch: 5)
        let watch = desk.watched
        #expect(desk.takes(row, watch: watch) == true)
        #expect(desk.takes(row, watch: watch) == false)
        desk.postponed([row])
        #expect(desk.takes(row, watch: watch) == true)
        desk.watch(3, epoch: 6)
        #expect(desk.takes(row, watch: watch) == false, "read before the tenure ended")
        let now = desk.watched
        #expect(desk.takes(row, watch: now) == true)
        desk.unwatch(3)
        #expect(desk.takes(row, watch: [3: 6]) == false)
        desk.applied([row])
        #expect(desk.next().words == ["answers:9"])
    }

    @Test func `a posted row that is applied while the inbox is read is not handed over again`() {
        var desk = LinkDesk(origin: 7)
        let row = PostID(partition: 3, origin: 9, number: 1)
        desk.watch(3, epoch: 5)
        var watch = desk.beginRead().watched
        #expect(desk.takes(row, watch: watch) == true)
        desk.endRead()
        watch = desk.beginRead().watched
        desk.applied([row])
        #expect(desk.takes(row, watch: watch) == false, "the read began before it was applied")
        desk.endRead()
        // One that is put off is handed over with the same read.
        watch = desk.beginRead().watched
        let late = PostID(partition: 3, origin: 9, number: 2)
        #expect(desk.takes(late, watch: watch) == true)
        desk.postponed([late])
        #expect(desk.takes(late, watch: watch) == true)
        desk.unwatch(3, epoch: 4)
        #expect(desk.watched == [3: 5], "a late word of the earlier tenure")
    }

    @Test func `S7: two claims of one token go one after the other, in their order`() {
        var desk = LinkDesk(origin: 7)
        for device in ["d1", "d2", "d3"] as [DeviceID] {
            let token: [UInt8] = device == "d3" ? [2] : [1]
            desk.claim(LinkDesk.Claim(token: token, device: device, epoch: 1, hear: { _ in }))
        }
        var order: [[DeviceID]] = []
        while !desk.next().claims.isEmpty {
            let batch = desk.next()
            order.append(batch.claims.map(\.device))
            desk.landed(batch)
        }
        #expect(order == [["d1"], ["d2", "d3"]])
    }
}

@Suite struct LeavingBalanceTests {
    @Test func `what a leaving node holds is its own until it gives it, and counts as nobody's share`() {
        let holders: [Int64?] = Array(repeating: 1, count: 4) + Array(repeating: 2, count: 2) + [nil, nil]
        let plan = LeaseBalance.plan(me: 2, nodes: [2], leaving: [1], holders: holders)
        #expect(plan == LeaseBalance.Plan(take: [6, 7], give: []))
        #expect(LeaseBalance.plan(me: 1, nodes: [2], leaving: [1], holders: holders) == LeaseBalance.Plan())
    }
}
