/// What can go wrong in a world, each kind with its name on the command line. Which of them happen, how often and when is
/// drawn from the seed (`FaultPlan`).
public enum FaultKind: String, Hashable, Sendable, CaseIterable {
    // The gateway.
    /// Single refusals with any status and reason that Apple lists; nothing is done.
    case refusals
    /// 200, and the push reaches no phone (ref R3).
    case lostPushes = "lost-pushes"
    /// The push arrives, its answer does not: the verdict is unknown.
    case lostAnswers = "lost-answers"
    /// Answers take up to half a minute.
    case slowAnswers = "slow-answers"
    /// GOAWAY, refused streams, broken connections: pushes end as not sent.
    case notSent = "not-sent"
    /// The gateway cannot be reached, for up to an hour.
    case outage
    /// Nothing but 5xx for some minutes.
    case serverErrors = "server-errors"
    /// Nothing but 429 for some minutes.
    case throttling
    /// Apps that name the wrong gateway with their token (G2).
    case wrongGateway = "wrong-gateway"

    // Phones.
    /// Phones without a network for some time; pushes to them are kept, the newest for each token.
    case offline
    /// Calls of apps that the server never hears, or whose answer is lost; they are repeated.
    case lostCalls = "lost-calls"
    /// Pushes that overtake one another on their way to the phone.
    case overtaking

    // The feed.
    case lateLines = "late-lines"
    case doubledLines = "doubled-lines"
    case reorderedLines = "reordered-lines"
    /// Lines in the middle of a game that never come; the last one of a game does.
    case missingLines = "missing-lines"
    /// Two sources that disagree by one point, in turns.
    case flippingSources = "flipping-sources"
    /// Two sources that disagree about whether a game is close, in turns, for some minutes.
    case disputedScores = "disputed-scores"
    /// A score that was wrong and is corrected downwards.
    case corrections
    /// Many lines at once after a silence.
    case bursts
    case postponements

    // The store.
    case slowStore = "slow-store"
    /// It refuses everything for some minutes: away, or read-only.
    case refusingStore = "refusing-store"
    /// Commits whose outcome is known only after half a minute.
    case unknownCommits = "unknown-commits"

    // The node.
    /// Lanes thrown away: before a turn, between effects and commit, between commit and push, with a verdict under way, while
    /// they start again.
    case laneDeaths = "lane-deaths"
    /// All lanes of a shard at once.
    case shardDeaths = "shard-deaths"
    /// The process is killed, and comes back from the store.
    case processDeaths = "process-deaths"
    /// The same just when it matters: a start or an end has been decided and not written, written and not sent, sent and not
    /// answered.
    case suddenDeaths = "sudden-deaths"
    /// The process is stopped in order and replaced.
    case deploys
    /// The server's wall clock is set forward or back, and right again.
    case clockSteps = "clock-steps"

    // The operator.
    /// A gateway is paused for some minutes.
    case pauses
    /// A wrong topic for ten minutes.
    case wrongTopic = "wrong-topic"
    /// Values of `tuning` changed and changed back.
    case retuning
}
