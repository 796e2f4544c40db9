public import CardRules

/// What became of one world.
public struct WorldResult: Sendable {
    public let seed: UInt64
    /// Two runs with the same options and this hash are the same run, event for event.
    public let hash: UInt64
    /// Jobs of the executor.
    public let jobs: Int
    public let phoneNights: Double
    public let faults: [FaultKind]
    public let judged: JudgeReport
    public let tally: WorldTally
    /// By the phone's number.
    public let devices: [DeviceID]
    /// By the phone's number: what happened to it, oldest first.
    public let stories: [[StoryLine]]

    public var violations: [Violation] { judged.violations }
}

/// One thing that happened to a phone or its lane, for people.
public struct StoryLine: Hashable, Sendable, CustomStringConvertible {
    public let at: WallTime
    public let text: String

    public var description: String { "\(at.seconds(since: World.start)) s: \(text)" }
}

public struct WorldTally: Hashable, Sendable {
    public internal(set) var commits = 0
    public internal(set) var pushes = 0
    public internal(set) var verdicts: [String: Int] = [:]
    public internal(set) var laneKills = 0
    public internal(set) var laneRestarts = 0
    public internal(set) var parked = 0
    /// Late effects of dead generations that were refused.
    public internal(set) var fenced = 0
    /// The end of the day counts as one.
    public internal(set) var processDeaths = 0
    public internal(set) var deploys = 0
    public internal(set) var tokensCleared = 0
}
