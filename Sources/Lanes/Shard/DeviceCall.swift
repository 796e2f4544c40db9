public import CardRules

/// Something from outside for one device, on its way to its lane.
public struct DeviceCall: Sendable {
    public let device: DeviceID
    /// The app of a device not seen before; needed with `registered`.
    public let app: AppID?
    public let event: LaneEvent
    /// Called exactly once, when the outcome is durable or can no longer be; from a thread of the system's own.
    public let reply: (@Sendable (DeviceAnswer) -> Void)?

    public init(
        device: DeviceID, app: AppID? = nil, event: LaneEvent, reply: (@Sendable (DeviceAnswer) -> Void)? = nil
    ) {
        self.device = device
        self.app = app
        self.event = event
        self.reply = reply
    }
}

/// What became of a call.
public enum DeviceAnswer: Hashable, Sendable {
    /// Applied, and durable.
    case done
    /// No such device.
    case unknownDevice
    /// The card's key is no session that is known (404).
    case unknownCard
    /// The selection was older than the one held (409).
    case staleSelection(held: WallTime)
    /// The store cannot write now: try again (503).
    case unavailable
    /// More waits than may: try again (503).
    case overloaded
}
