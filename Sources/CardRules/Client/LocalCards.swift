extension ClientMemory {
    /// The app is about to end a card itself, because its owner asked it to.
    ///
    /// - Returns: the end; the report of it comes from the next `recover`.
    /// - Throws: in the background, E4 for a card that the server owns, C3 for any other: what the app wants to end
    ///   there it stops at the server (`DELETE /v1/sessions/{session}`), which ends it by push.
    public mutating func endLocally(
        _ activity: ActivityID, isForeground: Bool
    ) throws(ClientRefusal) -> ClientAction {
        guard isForeground else {
            throw isOwnedByServer(activity)
                ? ClientRefusal(.e4, "the server owns this card and ends it")
                : ClientRefusal(.c3, "a card is ended here only while the app is in front")
        }
        change(activity) { $0.isEndedByApp = true }
        return .end(activity)
    }

    /// The app would like to start a card of its own.
    ///
    /// - Parameters:
    ///   - activities: as for `recover`.
    ///   - claim: what makes this card the app's and not the server's to start.
    ///   - isAsked: the owner has just asked for it. What was swiped away tonight comes back only then (S9).
    ///   - night: the night of the phone's own zone, from `NightSpan`.
    /// - Throws: the first rule that is against it: C3, S3, S13, S9, S8 or S15.
    public func mayStartCard(
        under key: CardKey, beside activities: [ClientActivity], claim: OwnCardClaim, isForeground: Bool, isAsked: Bool,
        night: NightSpan, at now: WallTime, tuning: Tuning = Tuning()
    ) throws(ClientRefusal) {
        guard isForeground else { throw ClientRefusal(.c3, "iOS starts a card only for the app in front") }
        guard !activities.contains(where: { $0.key == key && $0.state.holdsItsKey }) else {
            throw ClientRefusal(.s3, "a card stands under this key: adopt it")
        }
        guard activities.count(where: \.state.holdsItsKey) < tuning.starts.cardsPerApp else {
            throw ClientRefusal(.s13, "\(tuning.starts.cardsPerApp) cards of the app stand already")
        }
        guard isAsked || !wasDismissed(key, since: night.from) else {
            throw ClientRefusal(.s9, "its owner swiped it away tonight")
        }
        switch claim {
        case .selection(let answeredAt):
            guard let answeredAt, now.seconds(since: answeredAt) < tuning.authority.syncHoldSeconds, answeredAt <= now
            else {
                throw ClientRefusal(.s8, "send the selection first: the server may be starting one")
            }
        case .session(let startedOn, let device):
            guard startedOn.contains(device) else {
                throw ClientRefusal(.s15, "the session does not name this device in startedOn: the server starts it")
            }
        }
    }
}

/// By what right the app starts a card itself.
public enum OwnCardClaim: Hashable, Sendable {
    /// S8: for a while after a selection has arrived the server starts no slate card; when it answered 204, or `nil`.
    case selection(answeredAt: WallTime?)
    /// S15: the session names the devices that start their card themselves; as the server has accepted it.
    case session(startedOn: [DeviceID], device: DeviceID)
}
