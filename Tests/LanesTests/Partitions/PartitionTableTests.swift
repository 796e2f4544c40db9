import Testing

@testable import Lanes

/// What a node does with partitions that come and go, without any store.
@Suite struct PartitionTableTests {
    @Test func `gained it is loaded, and takes events from then on`() {
        var table = PartitionTable(ownsAll: false)
        #expect(!table.takesEvents(of: 3))
        #expect(table.gained(3, epoch: 5) == [.load(3, epoch: 5)])
        #expect(table.takesEvents(of: 3) && !table.runs(3) && table.arriving == [3])
        #expect(table.loaded(3, epoch: 4) == false, "of an earlier tenure")
        #expect(table.loaded(3, epoch: 5) == true)
        #expect(table.runs(3) && table.owned == [3])
        #expect(table.loaded(3, epoch: 5) == false)
    }

    @Test func `gained anew it begins from the store again; news of the same lease change nothing`() {
        var table = PartitionTable(ownsAll: false)
        _ = table.gained(3, epoch: 5)
        _ = table.loaded(3, epoch: 5)
        #expect(table.gained(3, epoch: 5) == [])
        #expect(table.runs(3))
        #expect(table.gained(3, epoch: 6) == [.drop(3, epoch: 5), .load(3, epoch: 6)])
        #expect(!table.runs(3))
    }

    @Test func `asked for it rests first, then it is dropped and only then released`() {
        var table = PartitionTable(ownsAll: false)
        _ = table.gained(3, epoch: 5)
        _ = table.loaded(3, epoch: 5)
        #expect(table.asked(3) == [.rest(3, epoch: 5)])
        #expect(!table.takesEvents(of: 3), "what comes now is for the next owner")
        #expect(table.asked(3) == [])
        #expect(table.rested(3, epoch: 4) == [])
        #expect(table.rested(3, epoch: 5) == [.drop(3, epoch: 5), .release(3, epoch: 5)])
        #expect(table[3] == .elsewhere)
        #expect(table.rested(3, epoch: 5) == [])
    }

    @Test func `asked for while its lanes are being loaded it goes at once`() {
        var table = PartitionTable(ownsAll: false)
        _ = table.gained(3, epoch: 5)
        #expect(table.asked(3) == [.drop(3, epoch: 5), .release(3, epoch: 5)])
        #expect(table.loaded(3, epoch: 5) == false)
    }

    @Test func `lost it is dropped from any stage, and what was to be done for it has no use any more`() {
        var table = PartitionTable(ownsAll: false)
        for place in 0..<4 { _ = table.gained(place, epoch: 1) }
        for place in 1..<4 { _ = table.loaded(place, epoch: 1) }
        _ = table.asked(2)
        #expect(table.lost([0, 1, 2, 9]) == (0...2).map { .drop($0, epoch: 1) })
        #expect(table.owned == [3])
        #expect(table.rested(2, epoch: 1) == [])
        #expect(table.loaded(0, epoch: 1) == false)
    }

    @Test func `fenced it is dropped, and released so that it is taken anew with another epoch`() {
        var table = PartitionTable(ownsAll: false)
        _ = table.gained(3, epoch: 5)
        _ = table.loaded(3, epoch: 5)
        #expect(table.fenced(3, epoch: 4) == [], "of an earlier tenure")
        #expect(table.fenced(3, epoch: 5) == [.drop(3, epoch: 5), .release(3, epoch: 5)])
        #expect(table.fenced(3, epoch: 5) == [])
    }

    @Test func `without a cluster everything is here for good`() {
        let table = PartitionTable(ownsAll: true)
        #expect((0..<partitionCount).allSatisfy { table.runs($0) && table.takesEvents(of: $0) })
    }
}
