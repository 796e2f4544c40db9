import CardRules
import Lanes
import Operations
import Simulation
import Synchronization
import Testing

@testable import lanekeeper

@Suite struct WatchedStoreTests {
    /// A store whose commits come back as and when a test says.
    private final class Hand: Store {
        private let held = Mutex<[@Sendable (CommitOutcome) -> Void]>([])
        func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
            held.withLock { $0.append(done) }
        }
        func answer(_ outcome: CommitOutcome) {
            let done = held.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            done?(outcome)
        }
        func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws -> [DamagedLane] { [] }
        func loadLane(_ device: DeviceID) async throws -> StoredLane? { nil }
        func timestampMark(partition: Int) async throws -> Int64? { nil }
        func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws {}
        func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws {}
        func loadSlate(since: WallTime) async throws -> [ArrivedLine] { [] }
        func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] { [] }
        func pausedGateways() async throws -> Set<Gateway> { [] }
    }

    private let clock = ManualClock(now: WallTime(seconds: 1_768_075_200))
    private let hand = Hand()

    private func watched() throws -> WatchedStore {
        WatchedStore(
            hand, clock: clock, log: try Log(level: .info, format: .text, isTerminal: false, clock: clock) { _ in })
    }

    private final class Said: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        func add(_ more: some Sequence<UInt8>) { bytes.withLock { $0 += more } }
        var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
    }

    private static let full = CommitOutcome.failed(.unavailable(detail: "the disk is full"))
    private static let landed = CommitOutcome.landed(refused: RefusedRows())

    @Test func `readyz: a commit that fails is trouble, with why, until one lands`() throws {
        let store = try watched()
        #expect(store.trouble == nil)
        let heard = Mutex<[CommitOutcome]>([])
        for outcome in [Self.full, Self.full, Self.landed] {
            store.commit(CommitBatch()) { outcome in heard.withLock { $0.append(outcome) } }
            #expect(store.trouble == (heard.withLock { $0.isEmpty } ? nil : "the store cannot write: the disk is full"))
            hand.answer(outcome)
        }
        #expect(heard.withLock { $0 } == [Self.full, Self.full, Self.landed])
        #expect(store.trouble == nil)
    }

    @Test func `readyz: a failure that nobody repeats is over after a while`() throws {
        let store = try watched()
        store.commit(CommitBatch()) { _ in }
        hand.answer(Self.full)
        clock.advance(bySeconds: WatchedStore.failureSeconds - 0.1)
        #expect(store.trouble != nil)
        clock.advance(bySeconds: 0.2)
        #expect(store.trouble == nil)
    }

    @Test func `readyz: a store that answers no commit is trouble, however many it still answers late`() throws {
        let store = try watched()
        store.commit(CommitBatch()) { _ in }
        store.commit(CommitBatch()) { _ in }
        clock.advance(bySeconds: WatchedStore.silenceSeconds - 1)
        #expect(store.trouble == nil)
        clock.advance(bySeconds: 2)
        #expect(store.trouble == "the store has not answered for 11 s")
        hand.answer(Self.landed)
        #expect(store.trouble == nil, "it goes on")
        clock.advance(bySeconds: WatchedStore.silenceSeconds + 1)
        #expect(store.trouble != nil)
        hand.answer(Self.landed)
        #expect(store.trouble == nil)
        clock.advance(bySeconds: 3600)
        #expect(store.trouble == nil, "nothing waits")
    }

    @Test func `log: the first failure and the first success after it, and not those between`() async throws {
        let said = Said()
        let log = try Log(level: .info, format: .text, isTerminal: false, clock: clock) { said.add($0) }
        let store = WatchedStore(hand, clock: clock, log: log)
        for outcome in [Self.landed, Self.full, Self.full, Self.landed, Self.landed] {
            store.commit(CommitBatch()) { _ in }
            hand.answer(outcome)
        }
        await log.close()
        let lines = said.text.split(separator: "\n")
        #expect(lines.count == 2, "\(said.text)")
        #expect(
            lines.first?.contains("the store cannot write") == true && lines.first?.contains("disk is full") == true)
        #expect(lines.last?.contains("the store writes again") == true)
    }

    @Test func `log: a failure that comes after the last one is over is told again`() async throws {
        let said = Said()
        let log = try Log(level: .info, format: .text, isTerminal: false, clock: clock) { said.add($0) }
        let store = WatchedStore(hand, clock: clock, log: log)
        for (seconds, outcome) in [
            (0, Self.full), (9, Self.full), (9, Self.full), (10, Self.full), (60, Self.landed), (60, Self.full),
        ] as [(Double, CommitOutcome)] {
            clock.advance(bySeconds: seconds)
            store.commit(CommitBatch()) { _ in }
            hand.answer(outcome)
        }
        await log.close()
        let lines = said.text.split(separator: "\n").map { $0.contains("the store cannot write") }
        #expect(lines == [true, true, false, true], "\(said.text)")
    }
}
