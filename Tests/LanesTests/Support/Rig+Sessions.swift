import CardRules
import Lanes
import Simulation

/// What a caller says of sessions.
extension Rig {
    static func terms(
        _ devices: [DeviceID], id: String = "nap", count: Int64 = 0, startedAt: WallTime = Rig.evening,
        startedOn: [DeviceID] = []
    ) -> SessionTerms {
        SessionTerms(
            devices: devices, attributesType: "SleepAttributes", attributes: .object(["session": .string(id)]),
            content: .object(["count": .integer(count)]), title: "Sleep", startedAt: startedAt, startedOn: startedOn)
    }

    static func cardToken(
        _ activity: ActivityID, key: CardKey, startedBy: Card.StartedBy = .push
    ) -> LaneEvent {
        .cardToken(
            CardToken(
                key: key, activity: activity,
                address: PushAddress(token: Array(activity.text.utf8), gateway: .production),
                startedBy: startedBy, began: nil))
    }

    /// What waits happens; then time passes, and what that brings happens too.
    func live(_ seconds: Double, _ system: Supervisor) async {
        await system.settle()
        await pass(seconds, system)
        await system.settle()
    }

    /// Writes sessions as a process would that dies before it tells anybody.
    func keep(_ sessions: [Session]) async {
        var batch = CommitBatch()
        batch.sessions = sessions
        let made = batch
        _ = await withCheckedContinuation { done in store.commit(made) { done.resume(returning: $0) } }
    }
}

extension CardKey: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
