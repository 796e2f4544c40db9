/// Work that a turn asks of the shell. The order of a turn's effects is meaning: what stands after a `save` must not
/// become visible before the record is durable (L1).
public enum LaneEffect: Hashable, Sendable {
    /// One start is about to be spent: the row unique by device, night and ordinal goes with the next `save`.
    case claim(night: WallTime, ordinal: Int, key: CardKey)
    /// Make the lane's record durable, as it is when it is written or newer.
    case save
    /// Send a push. The shell answers with exactly one `verdict`.
    case send(PushOrder)
    /// For people; rides along with the next commit.
    case note(TimelineEntry)
    /// Ask who owns the phone behind the token; answered by `owned` (S7).
    case claimPhone(token: [UInt8])
    /// Give this, of the record `from`, to the newer record as `owned`; answered by `handoverTaken` (S7). `nil`: that
    /// record no longer has anything of the phone.
    case handOver(Handover?, of: DeviceID, token: [UInt8], to: DeviceID)
    /// The older record may forget the handover: this one has it (S7).
    case confirmHandover(to: DeviceID)
    /// An app still reports under a superseded record: its event belongs to the phone's owner.
    case forward(ForwardedEvent, to: DeviceID)
    /// Tell this lane of these sessions again: it was handed their cards and does not hold them (S7).
    case askSessions([CardKey])
    /// The selection was older than the one held: the caller is told so (409), nothing was changed.
    case refuseSelection(held: WallTime)
    /// Nothing is owed any more: the record of a removed device can go.
    case erase
}

/// An event about a card, on its way to the record that now owns the phone.
public enum ForwardedEvent: Hashable, Sendable {
    case cardToken(CardToken)
    case reported(CardReport)
    /// `as`: the record that the session names.
    case session(Session, as: DeviceID)

    public var event: LaneEvent {
        switch self {
        case .cardToken(let token): .cardToken(token)
        case .reported(let report): .reported(report)
        case .session(let session, let device): .session(session, as: device)
        }
    }
}
