/// What of iOS's behaviour is a guess or a choice (ref 8.1, 8.3). The defaults are those of the reference; seconds.
public struct PhoneOptions: Hashable, Sendable {
    /// P7: push-to-start budget, and how long one unit takes to come back (ref I26).
    public var startBudget = 10
    public var startRefillSeconds: Double = 360
    /// P7: starts that do not apply are charged too (ref I27).
    public var chargesInvalidStarts = false
    /// P10: how long iOS takes to make an update token.
    public var updateTokenSeconds: ClosedRange<Double> = 1...8
    /// P14: how old an update's `timestamp` may be; `nil`: any age.
    public var pastToleranceSeconds: Double? = 60
    /// P14: how far ahead it may be.
    public var aheadToleranceSeconds: Double = 28_800
    /// P14: an update with the `timestamp` of the last one is dropped.
    public var dropsEqualTimestamps = true
    /// P15: an end with an old `timestamp` applies.
    public var endsDespiteOldTimestamp = true
    /// P9: a start without `input-push-token` on iOS 18 or later gets no update token.
    public var needsTokenInput = true
    /// P5.
    public var activityLimit = 5
    /// P18: until iOS ends an activity, and how long it then stays on the Lock Screen.
    public var lifeSeconds: Double = 28_800
    public var lingerSeconds: Double = 14_400
    /// P21: priority-10 updates an hour for each activity, ordinary and frequent; beyond them they are dropped.
    public var urgentPerHour = 15
    public var urgentPerHourFrequent = 240
    /// Random bytes in a token (ref T20).
    public var tokenBytes = 80
    /// The attributes type that the app has registered for its slate card.
    public var slateAttributesType = "LineupAttributes"
    /// Those of its sessions, whose attributes name the card's key under `session`.
    public var sessionAttributesTypes: Set<String> = ["SleepAttributes"]
    /// Lines of device log kept for each phone, newest last.
    public var logLinesKept = 32

    public init() {}
}
