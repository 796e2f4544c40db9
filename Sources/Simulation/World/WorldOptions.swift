public import CardRules

/// What a world is made of. The same options and seed give the same run, job for job.
public struct WorldOptions: Sendable {
    public var seed: UInt64
    /// Handsets; a few have two builds and count twice.
    public var phones = 20
    /// Virtual hours, of which the last is free of faults; 2 or more.
    public var hours: Double = 24
    /// Games of the evening.
    public var games = 6
    /// Kinds to draw the faults from.
    public var faults = Set(FaultKind.allCases)
    /// All of `faults` happen; else about half of them, drawn.
    public var hasAllFaults = false
    public var tuning = Tuning()
    /// Lines kept of each phone's story, for people; 0: none.
    public var storyLines = 0

    public init(seed: UInt64) { self.seed = seed }
}
