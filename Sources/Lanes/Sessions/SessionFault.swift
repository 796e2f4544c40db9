public import CardRules
public import PushWire

/// Why a session was not opened, changed or stopped. Nothing was changed.
public enum SessionFault: Error, Hashable, Sendable {
    /// `slate` is the slate's own key, `probe` that of probes.
    case reservedID
    case noDevices
    case tooManyDevices(limit: Int)
    /// The device at that place of `devices` is not there.
    case unknownDevice(DeviceID, index: Int)
    /// The device at that place of `startedOn` is none of `devices`.
    case startedOnStranger(DeviceID, index: Int)
    /// `startedAt` is the source of truth and never changes while the session runs (R4): 409.
    case startedAtChanged(held: WallTime)
    /// `attributes` or `content` must be an object.
    case notAnObject(field: String)
    /// `attributesType`, `title`, and the texts of an alert must show something.
    case blank(field: String)
    /// P8: the largest of its pushes passes the limit.
    case tooLarge(SessionSizes, field: String)
    /// The store cannot write now: try again (503).
    case unavailable(StoreError)

    /// The member of the body that is to blame, as a JSON pointer.
    public var field: String? {
        switch self {
        case .reservedID, .unavailable: nil
        case .noDevices, .tooManyDevices: "/devices"
        case .unknownDevice(_, let index): "/devices/\(index)"
        case .startedOnStranger(_, let index): "/startedOn/\(index)"
        case .startedAtChanged: "/startedAt"
        case .notAnObject(let field), .blank(let field), .tooLarge(_, let field): field
        }
    }

    /// For people.
    public var detail: String {
        switch self {
        case .reservedID: "a session must not be called slate or probe"
        case .noDevices: "a session names at least one device"
        case .tooManyDevices(let limit): "a session names at most \(limit) devices"
        case .unknownDevice(let device, _): "there is no device \(device)"
        case .startedOnStranger(let device, _): "\(device) is none of the session's devices"
        case .startedAtChanged(let held): "the session began at \(held.unixSeconds), and that never changes"
        case .notAnObject: "must be an object"
        case .blank: "must not be blank"
        case .tooLarge(let sizes, _):
            """
            a start would take \(sizes.start) bytes, an update \(sizes.update), an end \(sizes.end): \
            the limit is \(sizes.limit)
            """
        case .unavailable: "the store cannot write now: try again"
        }
    }
}

/// What a call did to a session; in each case it is durable.
public enum SessionOutcome: Hashable, Sendable {
    /// 201.
    case opened
    case changed
    case stopped
    /// Nothing was different.
    case unchanged
}
