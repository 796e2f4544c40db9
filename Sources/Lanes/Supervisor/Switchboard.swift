import CardRules
import Synchronization

/// Which shard or node a device belongs to, and who owns the phone behind a token (S7). Shared by the shards of one node.
final class Switchboard: ShardRouter {
    private struct State {
        var inboxes: [ShardInbox] = []
        var table: PartitionTable
        /// Without a cluster only, as `asked` is: else the store has both.
        var owners: [TokenName: DeviceID] = [:]
        /// The older record that the newest owner waits for.
        var asked: [TokenName: DeviceID] = [:]
        var doubts: [Doubt] = []
    }

    private let state: Mutex<State>
    private let cluster: (any Cluster)?
    let sessions = SessionBook()
    /// Parked lanes that are to be read again: each at most once until that has happened.
    let rereads: AsyncStream<DeviceID>
    private let askReread: AsyncStream<DeviceID>.Continuation
    /// What is left to do for partitions of which the store refuses what is written.
    let fencings: AsyncStream<[PartitionTable.Step]>
    private let tellFenced: AsyncStream<[PartitionTable.Step]>.Continuation
    /// One element says: there may be doubts.
    let doubtsCame: AsyncStream<Void>
    private let tellDoubt: AsyncStream<Void>.Continuation

    init(cluster: (any Cluster)?) {
        self.cluster = cluster
        state = Mutex(State(table: PartitionTable(ownsAll: cluster == nil)))
        (rereads, askReread) = AsyncStream.makeStream()
        (fencings, tellFenced) = AsyncStream.makeStream()
        (doubtsCame, tellDoubt) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: - Partitions

    /// Tells of leases; from here on events go where they belong then.
    func change<Value>(_ body: (inout PartitionTable) -> Value) -> Value { state.withLock { body(&$0.table) } }

    var table: PartitionTable { state.withLock { $0.table } }

    /// From here on its events go elsewhere: those that its shard hands back must not come to the shard again.
    func fenced(_ partition: Int, epoch: Int64) {
        let steps = change { $0.fenced(partition, epoch: epoch) }
        if !steps.isEmpty { tellFenced.yield(steps) }
    }

    func reread(_ device: DeviceID) { askReread.yield(device) }

    func connect(_ inboxes: [ShardInbox]) { state.withLock { $0.inboxes = inboxes } }

    func learn(_ owners: [PhoneOwner]) {
        state.withLock { state in
            for owner in owners { state.owners[TokenName(owner.token)] = owner.device }
        }
    }

    /// The inbox of the shard that runs a device's partition; `nil` before the shards are connected.
    func inbox(of device: DeviceID) -> ShardInbox? {
        state.withLock { state in
            state.inboxes.isEmpty ? nil : state.inboxes[partition(of: device) % state.inboxes.count]
        }
    }

    func deliver(_ call: DeviceCall) {
        guard let inbox = ownInbox(of: call.device) else { return post(call) }
        inbox.offerInternal(call)
    }

    /// `nil` where the device belongs to another node, or is about to.
    func ownInbox(of device: DeviceID) -> ShardInbox? {
        guard cluster != nil else { return inbox(of: device) }
        let place = partition(of: device)
        return state.withLock { state in
            state.table.takesEvents(of: place) && !state.inboxes.isEmpty
                ? state.inboxes[place % state.inboxes.count] : nil
        }
    }

    /// For whichever node has the device, now or next.
    func post(_ call: DeviceCall) {
        guard let cluster else { return call.reply(.unavailable) }
        let content: PostedEvent.Content
        switch call.event {
        case .session(_, as: nil): return  // every node tells its own lanes what became of a session
        case .session(let session, let device?): content = .session(session.id, as: device)
        default: content = .event(call.event)
        }
        cluster.post(PostedEvent(device: call.device, app: call.app, content: content), hear: call.hear)
    }

    func route(_ effect: LaneEffect, from device: DeviceID) {
        switch effect {
        case .claimPhone(let token):
            if let cluster {
                return cluster.claimPhone(token, for: device) { [self] before in
                    answer(claimOf: token, by: device, before: before)
                }
            }
            let name = TokenName(token)
            let before = state.withLock { state -> DeviceID? in
                // Asked again while the answer is out: it is not the owner before it has what the older one hands over.
                guard let before = state.owners.updateValue(device, forKey: name), before != device else {
                    return state.asked[name]
                }
                state.asked[name] = before
                return before
            }
            answer(claimOf: token, by: device, before: before)
        case .handOver(let handover, let older, let token, let newer):
            answered(by: device, token)
            deliver(DeviceCall(device: newer, event: .owned(token: token, from: older, handover: handover)))
        case .confirmHandover(let older):
            deliver(DeviceCall(device: older, event: .handoverTaken(by: device)))
        case .askSessions(let keys):
            for key in keys {
                guard let session = sessions.durable(key) else { continue }
                deliver(DeviceCall(device: device, event: .session(session, as: nil)))
            }
        case .claim, .save, .send, .note, .forward, .refuseSelection, .erase:
            break  // carried out by the shard itself
        }
    }

    private func answer(claimOf token: [UInt8], by device: DeviceID, before: DeviceID?) {
        if let before {
            deliver(DeviceCall(device: before, event: .superseded(by: device, token: token)))
        } else {
            deliver(DeviceCall(device: device, event: .owned(token: token, from: nil, handover: nil)))
        }
    }

    private func answered(by older: DeviceID, _ token: [UInt8]) {
        if let cluster { return cluster.handedOver(token, by: older) }
        state.withLock { state in
            if state.asked[TokenName(token)] == older { state.asked[TokenName(token)] = nil }
        }
    }

    func session(_ key: CardKey) -> Session? { sessions.durable(key) }

    // MARK: - Doubts

    /// Doubts that may wait; above, their callers are told to try again. What was posted is bounded by its poster's reader.
    private static let doubtsHeld = 10_000

    func lookUp(_ doubt: Doubt) {
        let isTaken = state.withLock { state in
            guard state.doubts.count < Self.doubtsHeld || doubt.call.post != nil else { return false }
            state.doubts.append(doubt)
            return true
        }
        if isTaken { tellDoubt.yield() } else { doubt.call.reply(.overloaded) }
    }

    func takeDoubts() -> [Doubt] {
        state.withLock { state in
            defer { state.doubts = [] }
            return state.doubts
        }
    }

    func undelivered(_ call: DeviceCall) {
        // The older record is gone, and with it whatever it could hand over.
        if case .superseded(let newer, let token) = call.event {
            answered(by: call.device, token)
            deliver(DeviceCall(device: newer, event: .owned(token: token, from: nil, handover: nil)))
        }
    }
}

/// A token by 128 bits of hash, so that a million of them stay small.
private struct TokenName: Hashable {
    let high: UInt64
    let low: UInt64

    init(_ token: [UInt8]) {
        var (one, two): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15)
        for byte in token {
            one = (one ^ UInt64(byte)) &* 0x100_0000_01b3
            two = (two ^ UInt64(byte)) &* 0xff51_afd7_ed55_8ccd
            two ^= two >> 29
        }
        (high, low) = (one, two)
    }
}
