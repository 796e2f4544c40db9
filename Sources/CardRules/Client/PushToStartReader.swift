/// C4: how the push-to-start token is read. The async sequence can stay silent although iOS has a token (ref I11), so
/// the property is read besides, on every version of iOS.
///
/// One for each launch of the app. Feed it every reading, of the property and of the sequence.
public struct PushToStartReader: Hashable, Sendable {
    /// What the server was told in this launch.
    private var told: Patched<PushAddress> = .absent

    public init() {}

    /// When to read `Activity<...>.pushToStartToken` after a launch: at once, and once more a little later.
    /// Read it also whenever the app comes to the front, and when `isAsked(byHeader:)` says so.
    public static func readings(launchedAt launch: WallTime, tuning: Tuning = Tuning()) -> [WallTime] {
        [launch, launch.advanced(bySeconds: tuning.app.rereadSeconds)]
    }

    /// The header by which the server asks for a fresh reading (S14).
    public static let needsHeader = "Lanekeeper-Needs"
    /// The value with which it does.
    public static let needsToken = "push-to-start-token"

    /// - Parameter value: of the header `Lanekeeper-Needs` of any answer; `nil` where there is none.
    /// - Returns: whether to read the property now. That reading is reported even if it says what the server was told.
    public mutating func isAsked(byHeader value: String?) -> Bool {
        guard value == PushToStartReader.needsToken else { return false }
        told = .absent
        return true
    }

    /// A reading.
    ///
    /// - Parameter address: the token with the gateway of this build (debug builds: sandbox; TestFlight and App Store:
    ///   production, ref T3), or `nil`: iOS has none. That is reported, and erases nothing at the server (G1, ref I13).
    /// - Returns: `nil` when this launch has already told the server so.
    public func report(_ address: PushAddress?, app: AppID? = nil) -> ClientReport? {
        let reading: Patched<PushAddress> = address.map { .value($0) } ?? .null
        guard reading != told else { return nil }
        var patch = DevicePatch()
        patch.pushToStart = reading
        return .device(patch, app: app)
    }

    /// The server answered 2xx. A report that got lost is due again with the next reading.
    public mutating func delivered(_ report: ClientReport) {
        if case .device(let patch, _) = report, patch.pushToStart != .absent { told = patch.pushToStart }
    }
}
