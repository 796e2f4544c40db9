public import CardRules

/// Which faults a world has, how often, and when: a subset drawn from the seed, as each swarm of tests wants it.
public struct FaultPlan: Sendable {
    /// In the order of `FaultKind.allCases`.
    public let kinds: [FaultKind]
    /// Faults happen from `begins` until `ends`; then the world is left in peace and must settle (I6).
    public let begins: WallTime
    public let ends: WallTime
    /// By kind: the share of events that it strikes.
    let shares: [FaultKind: Double]
    /// What lasts: begins and ends at these times.
    let episodes: [Episode]

    struct Episode: Sendable {
        let kind: FaultKind
        let from: WallTime
        let until: WallTime
        /// Settles what the episode is about: which gateway, which phone, how far.
        let draw: UInt64
    }

    /// - Parameters:
    ///   - allowed: kinds to draw from; each is there with a chance of about one half.
    ///   - all: every allowed kind is there.
    init(
        allowed: Set<FaultKind>, all: Bool, from begins: WallTime, until ends: WallTime, phones: Int,
        random: inout SeededGenerator
    ) {
        (self.begins, self.ends) = (begins, ends)
        var kinds: [FaultKind] = []
        var shares: [FaultKind: Double] = [:]
        var episodes: [Episode] = []
        for kind in FaultKind.allCases {
            // Drawn for each kind apart, so that leaving one out leaves the others as they are.
            var own = random.split()
            let isDrawn = own.chance(0.5)
            guard allowed.contains(kind), all || isDrawn else { continue }
            kinds.append(kind)
            if let most = FaultPlan.mostShare[kind] {
                shares[kind] = most * Double.random(in: 0.05...1, using: &own)
            }
            guard let most = FaultPlan.longest[kind] else { continue }
            let span = max(1, ends.seconds(since: begins))
            let count = kind == .offline ? max(1, phones / 3) : Int.random(in: 1...3, using: &own)
            for _ in 0..<count {
                let from = begins.advanced(bySeconds: Double.random(in: 0..<span, using: &own))
                let until = from.advanced(bySeconds: most * Double.random(in: 0.05...1, using: &own))
                episodes.append(Episode(kind: kind, from: from, until: min(until, ends), draw: own.next()))
            }
        }
        (self.kinds, self.shares, self.episodes) = (kinds, shares, episodes)
    }

    func share(of kind: FaultKind, at now: WallTime) -> Double {
        now >= begins && now < ends ? shares[kind] ?? 0 : 0
    }

    private static let mostShare: [FaultKind: Double] = [
        .refusals: 0.1, .lostPushes: 0.05, .lostAnswers: 0.05, .slowAnswers: 0.1, .notSent: 0.1, .wrongGateway: 0.3,
        .lostCalls: 0.3, .overtaking: 0.1, .lateLines: 0.1, .doubledLines: 0.1, .reorderedLines: 0.1,
        .missingLines: 0.1, .flippingSources: 0.1, .corrections: 0.02, .slowStore: 0.2, .unknownCommits: 0.005,
        .laneDeaths: 0.02, .suddenDeaths: 0.04,
    ]

    /// Seconds.
    private static let longest: [FaultKind: Double] = [
        .outage: 3600, .serverErrors: 600, .throttling: 300, .offline: 3600, .bursts: 300, .postponements: 1,
        .refusingStore: 300, .shardDeaths: 1, .processDeaths: 60, .deploys: 10, .clockSteps: 900, .pauses: 600,
        .wrongTopic: 600, .retuning: 900, .disputedScores: 900,
    ]
}
