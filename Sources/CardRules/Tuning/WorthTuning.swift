/// The constants of T10: what a game is worth. Everything in points of 0...100 unless the name says otherwise.
public struct WorthTuning: Hashable, Sendable {
    /// About to begin, before the stakes.
    public var prePoints = 38.0
    public var finalPoints = 12.0
    /// Under way, in a sport without a model of its own.
    public var unmodelledLivePoints = 45.0
    public var unmodelledBreakPoints = 42.0
    /// Under way and out of reach; also all that a game is worth whose score or period is unknown.
    public var decidedPoints = 18.0
    /// Level at the first whistle.
    public var levelStartPoints = 48.0
    /// Level at the end of regulation.
    public var levelEndPoints = 90.0
    /// Level in the last stretch, in which a close score is a close finish (T9): at least this.
    public var levelFinishPoints = 82.0
    public var levelOvertimePoints = 92.0
    public var shootoutPoints = 94.0
    /// Taken off in a pause before the end of regulation.
    public var breakPoints = 4.0
    /// For each change of the lead.
    public var leadChangePoints = 0.75
    public var leadChangesCounted = 8
    /// Both sides at the head of the table.
    public var rankPoints = 4.0
    /// The mean place at which `rankPoints` have gone down to nothing.
    public var rankDepth = 16.0
    /// Two sides of equal strength.
    public var spreadPoints = 2.0
    /// The spread at which `spreadPoints` have gone down to nothing.
    public var spreadRange = 10.0
    public var basketball = Swing(pointsPerRootSecond: 0.2236, cushionSeconds: 100)
    public var hockey = Swing(pointsPerRootSecond: 0.0367, cushionSeconds: 500)
    public var football = Swing(pointsPerRootSecond: 0.225, cushionSeconds: 300)
    /// Over the trailing side's own outs alone, each `moments.baseball.outSeconds` long.
    public var baseball = Swing(pointsPerRootSecond: 0.0414, cushionSeconds: 100)
    public var soccer = Swing(pointsPerRootSecond: 0.0224, cushionSeconds: 1200)
    /// Football: the trailing side's having the ball makes up for so many points.
    public var possessionPoints = 2.0
    /// Baseball: each runner on base of a trailing side at bat makes up for so many runs.
    public var runnerRuns = 0.4
    /// Soccer: each man more that the leading side has had sent off makes up for so many goals.
    public var redCardGoals = 0.25

    public init() {}

    /// How fast a margin can be made good.
    public struct Swing: Hashable, Sendable {
        /// The usual change of the margin in one second; in `n` seconds it is √n as large.
        public var pointsPerRootSecond: Double
        /// Added to the time left, so that one score is never out of reach.
        public var cushionSeconds: Double

        public init(pointsPerRootSecond: Double, cushionSeconds: Double) {
            self.pointsPerRootSecond = pointsPerRootSecond
            self.cushionSeconds = cushionSeconds
        }
    }
}
