import CardRules
import Synchronization

/// Which shard a device belongs to, and who owns the phone behind a token (S7). Shared by the shards of one node.
final class Switchboard: ShardRouter {
    private struct State {
        var inboxes: [ShardInbox] = []
        var owners: [TokenName: DeviceID] = [:]
        /// The older record that the newest owner waits for.
        var asked: [TokenName: DeviceID] = [:]
    }

    private let state = Mutex(State())
    let sessions = SessionBook()
    /// Parked lanes that are to be read again: each at most once until that has happened.
    let rereads: AsyncStream<DeviceID>
    private let askReread: AsyncStream<DeviceID>.Continuation

    init() { (rereads, askReread) = AsyncStream.makeStream() }

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

    func deliver(_ call: DeviceCall) { inbox(of: call.device)?.offerInternal(call) }

    func route(_ effect: LaneEffect, from device: DeviceID) {
        switch effect {
        case .claimPhone(let token):
            let name = TokenName(token)
            let before = state.withLock { state -> DeviceID? in
                // Asked again while the answer is out: it is not the owner before it has what the older one hands over.
                guard let before = state.owners.updateValue(device, forKey: name), before != device else {
                    return state.asked[name]
                }
                state.asked[name] = before
                return before
            }
            if let before {
                deliver(DeviceCall(device: before, event: .superseded(by: device, token: token)))
            } else {
                deliver(DeviceCall(device: device, event: .owned(token: token, from: nil, handover: nil)))
            }
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

    private func answered(by older: DeviceID, _ token: [UInt8]) {
        state.withLock { state in
            if state.asked[TokenName(token)] == older { state.asked[TokenName(token)] = nil }
        }
    }

    func session(_ key: CardKey) -> Session? { sessions.durable(key) }

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
