import CardRules
import Lanes
import Postgres
import Testing

@testable import LaneStore

/// The decisions of a commit, without a database.
@Suite struct CommitDeskTests {
    private func order(_ devices: String..., common: Bool = false) -> CommitOrder {
        var batch = CommitBatch()
        batch.lanes = devices.map { sampleLane($0) }
        if common { batch.pauses = [.sandbox: true] }
        return CommitOrder(batch: batch, scope: CommitScope(batch)) { _ in }
    }

    private func desk() -> CommitDesk {
        var desk = CommitDesk(writer: 5)
        for place in 0..<partitionCount { desk.hold(place, epoch: 2, seq: 10) }
        return desk
    }

    private func devices(_ group: CommitGroup?) -> [String] {
        group?.orders.flatMap(\.batch.lanes).map(\.record.device.text) ?? []
    }

    @Test func `orders that share no partition go together, a second of the same one waits for the first`() {
        var desk = desk()
        for order in [order("d1"), order("d2"), order("d1"), order("d3", "d2"), order("d4")] { desk.offer(order) }
        var refused: [CommitOrder] = []
        let first = desk.next(rows: 100, refused: &refused)
        #expect(devices(first) == ["d1", "d2", "d4"])
        #expect(first?.fences.map(\.seq) == [11, 11, 11])
        #expect(first?.fences.map(\.partition) == first?.fences.map(\.partition).sorted())
        // d3 waits with d2, in order.
        #expect(desk.next(rows: 100, refused: &refused) == nil)
        if let first { desk.moved(first) }
        let second = desk.next(rows: 100, refused: &refused)
        #expect(devices(second) == ["d1", "d3", "d2"])
        #expect(second?.fences.map(\.seq).sorted() == [11, 12, 12])
        #expect(refused.isEmpty)
    }

    @Test func `an order behind a waiting one of its partition does not overtake it`() {
        var desk = desk()
        var refused: [CommitOrder] = []
        desk.offer(order("d1"))
        let first = desk.next(rows: 100, refused: &refused)
        desk.offer(order("d1", "d2"))
        desk.offer(order("d2"))
        #expect(desk.next(rows: 100, refused: &refused) == nil)
        if let first { desk.drop(first) }
        #expect(devices(desk.next(rows: 100, refused: &refused)) == ["d1", "d2"])
    }

    @Test func `a group ends with so many rows, one order is never cut`() {
        var desk = desk()
        var refused: [CommitOrder] = []
        for order in [order("d1"), order("d2"), order("d3")] { desk.offer(order) }
        #expect(devices(desk.next(rows: 2, refused: &refused)) == ["d1", "d2"])
        #expect(devices(desk.next(rows: 2, refused: &refused)) == ["d3"])
    }

    @Test func `what did not land keeps its number, what was cancelled has used two`() {
        var desk = desk()
        var refused: [CommitOrder] = []
        desk.offer(order("d1", common: true))
        guard let first = desk.next(rows: 9, refused: &refused) else { return }
        #expect(first.writerSeq == 1)
        desk.drop(first)
        desk.offer(order("d1", common: true))
        guard let second = desk.next(rows: 9, refused: &refused) else { return }
        #expect(second.fences == first.fences && second.writerSeq == 1)
        desk.moved(second.next)
        desk.offer(order("d1", common: true))
        let third = desk.next(rows: 9, refused: &refused)
        #expect(third?.fences.map(\.seq) == [13] && third?.writerSeq == 3)
    }

    @Test func `a partition that was lost and comes back keeps its new number when an old commit ends`() {
        var desk = desk()
        var refused: [CommitOrder] = []
        desk.offer(order("d1"))
        guard let old = desk.next(rows: 9, refused: &refused) else { return }
        let place = partition(of: DeviceID(unchecked: "d1"))
        desk.letGo(place)
        desk.hold(place, epoch: 4, seq: 70)
        desk.moved(old)
        desk.offer(order("d1"))
        #expect(
            desk.next(rows: 9, refused: &refused)?.fences == [CommitFence(partition: place, epoch: 4, seq: 71)])
    }

    @Test
    func `fencing: what was gathered under an earlier lease is refused when the partition has come back meanwhile`() {
        var desk = desk()
        let place = partition(of: DeviceID(unchecked: "d1"))
        var batch = order("d1").batch
        batch.epochs = [place: 2]
        let old = CommitOrder(batch: batch, scope: CommitScope(batch)) { _ in }
        var stranger = order("d2").batch
        stranger.epochs = [place: 2]
        let strange = CommitOrder(batch: stranger, scope: CommitScope(stranger)) { _ in }
        var refused: [CommitOrder] = []
        desk.offer(old)
        #expect(devices(desk.next(rows: 9, refused: &refused)) == ["d1"] && refused.isEmpty)

        desk = self.desk()
        desk.offer(old)
        desk.letGo(place)
        desk.hold(place, epoch: 4, seq: 70)
        desk.offer(strange)
        #expect(desk.next(rows: 9, refused: &refused) == nil)
        #expect(refused.map(\.batch.lanes.first?.record.device.text) == ["d1", "d2"], "and what names no epoch")
        desk.letGo(place, epoch: 2)
        #expect(desk.held[place]?.epoch == 4, "a late word of the earlier tenure")
        desk.letGo(place, epoch: 4)
        #expect(desk.held[place] == nil)
    }

    private func verdict(
        _ epoch: Int64, _ seq: Int64, wasSent: Bool, writer: Int64? = nil, asked: Int64? = nil
    ) -> CommitGroup.Verdict {
        CommitGroup(
            orders: [], fences: [CommitFence(partition: 3, epoch: 2, seq: 11)], writer: 5, writerSeq: asked
        ).judge(found: [3: (epoch, seq)], writerSeq: writer, wasSent: wasSent)
    }

    @Test func `what a counter says of a commit`() {
        var lost = CommitScope()
        lost.insert(3)
        #expect(verdict(2, 11, wasSent: true) == .landed)
        #expect(verdict(2, 12, wasSent: true) == .cancelled)
        #expect(verdict(2, 10, wasSent: true) == .open)
        #expect(verdict(2, 9, wasSent: true) == .fenced(lost), "set back")
        #expect(verdict(3, 11, wasSent: true) == .fenced(lost), "a newer owner")
        #expect(verdict(2, 11, wasSent: false) == .fenced(lost), "another hand")
        var common = CommitScope()
        common.isCommon = true
        #expect(verdict(2, 10, wasSent: true, writer: 4, asked: 5) == .open)
        #expect(verdict(2, 10, wasSent: true, writer: nil, asked: 5) == .fenced(common))
        #expect(verdict(3, 40, wasSent: true, writer: 5, asked: 5) == .landed, "one transaction: it speaks for all")
    }

    private func server(_ state: String, fatal: Bool = false) -> PostgresError {
        .server(PostgresServerError(sqlState: state, isFatal: fatal, message: "m"))
    }

    @Test func `what an error makes of a commit that was not sent before`() {
        func step(_ error: PostgresError, orders: Int = 1) -> CommitCourse.Step {
            var course = CommitCourse()
            return course.take(error, orders: orders)
        }
        func isFailure(_ step: CommitCourse.Step) -> Bool { if case .fail = step { true } else { false } }
        #expect(step(server("LK001")) == .lookUp)
        #expect(step(server("40P01")) == .again(afterPause: false))
        #expect(step(server("55P03")) == .again(afterPause: true))
        #expect(step(server("25006")) == .reconnect)
        #expect(step(.lost("")) == .reconnect)
        #expect(isFailure(step(server("53100"))))
        #expect(isFailure(step(server("23514"))))
        #expect(step(server("23514"), orders: 2) == .split)
        var course = CommitCourse()
        let steps = (0..<CommitCourse.repeatsAtMost).map { _ in course.take(server("40001"), orders: 1) }
        #expect(steps.dropLast().allSatisfy { !isFailure($0) } && steps.last.map(isFailure) == true)
    }

    @Test func `what may have landed is never given up, and cancelled where it cannot be repeated`() {
        var course = CommitCourse()
        #expect(course.take(.lost(""), orders: 2) == .reconnect)
        #expect(course.wasSent)
        for _ in 0..<50 {
            #expect(course.take(server("55P03"), orders: 2) == .again(afterPause: true))
            #expect(course.take(server("53300"), orders: 2) == .again(afterPause: true))
        }
        #expect(course.stage == .writing)
        #expect(course.take(server("23514"), orders: 2) == .goOn)
        guard case .cancelling = course.stage else {
            Issue.record("\(course)")
            return
        }
        #expect(course.take(.lost(""), orders: 2) == .reconnect)
        #expect(course.isOpen)
    }
}
