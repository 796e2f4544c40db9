import CardRules
import PushWire
import Testing

/// P2 over whole evenings, on the bytes that leave: games whose scores are others give the same pushes.
@Suite struct SpoilerFreeTests {
    @Test(.enabled(if: !SlateFiles.names.isEmpty, Comment(rawValue: SlateFiles.comment)), arguments: SlateFiles.names)
    func `P2: the same games in the same order and phase give the same bytes whatever their scores`(name: String) throws
    {
        var random = Seeded(2)
        var compared = 0
        try forEachInstant(of: name) { snapshot in
            guard let games = card(of: snapshot) else { return }
            let plain = pushes(of: games, snapshot)
            guard plain.count == 3 else { return }
            for _ in 0..<2 {
                let other = SlateSnapshot(
                    version: snapshot.version, roster: snapshot.roster, asOf: snapshot.asOf,
                    games: snapshot.games.map { $0.withOtherScores(&random) })
                #expect(pushes(of: games, other) == plain, "\(name) at \(snapshot.asOf.unixSeconds)")
                compared += 3
            }
        }
        #expect(compared >= 20)
    }

    @Test(.enabled(if: !SlateFiles.names.isEmpty, Comment(rawValue: SlateFiles.comment)), arguments: SlateFiles.names)
    func `P2: beyond regulation neither period nor clock leave, in any sport`(name: String) throws {
        var beyond = 0
        try forEachInstant(of: name) { snapshot in
            for game in snapshot.games where game.phase != .pre {
                let regulation: Int? =
                    switch game.sport {
                    case .basketball, .football: 4
                    case .hockey: 3
                    case .soccer: 2
                    case .baseball:
                        game.detail?["innings"].flatMap { if case .integer(let n) = $0 { Int(n) } else { nil } }
                    case .other: 0
                    }
                guard let regulation, let period = game.period else { continue }
                let shown = SlateContent.Game(game, spoilerFree: true)
                if period > regulation {
                    beyond += 1
                    #expect(shown.period == nil && shown.clock == nil, "\(game.id) at \(snapshot.asOf.unixSeconds)")
                } else {
                    #expect(shown.period == period)
                }
                #expect(shown.homeScore == nil && shown.awayScore == nil && shown.detail == nil && shown.moment == nil)
            }
        }
        // Every sport has an evening that went beyond; a single one need not.
        #expect(beyond > 0 || !["nhl", "nba", "mlb", "nfl-2013", "soccer-2018-07"].contains { name.hasPrefix($0) })
    }

    /// Sixty instants of an evening, spread evenly over its lines.
    private func forEachInstant(of name: String, _ look: (SlateSnapshot) throws -> Void) throws {
        let lines = try SlateFiles.lines(name)
        var slate = Slate(tuning: Tuning())
        for (index, line) in lines.enumerated() {
            _ = slate.apply(line, at: line.at)
            if index % max(1, lines.count / 60) == 0 { try look(slate.snapshot(at: line.at)) }
        }
    }

    /// Up to four games, the first of them not over: it will be pinned, so that no score moves the order.
    private func card(of snapshot: SlateSnapshot) -> [GameID]? {
        let games = snapshot.games.filter(\.isInWindow)
        guard let front = games.first(where: { $0.phase != .final }) else { return nil }
        return [front.id] + games.map(\.id).filter { $0 != front.id }.prefix(3)
    }

    /// The start, the update and the end that one spoiler-free phone gets of this snapshot, as bytes.
    private func pushes(of games: [GameID], _ snapshot: SlateSnapshot) -> [[UInt8]] {
        let around = Surroundings(slate: snapshot, tuning: Tuning())
        var now = snapshot.asOf
        var lane = LaneState(
            device: DeviceID(unchecked: "d"), app: AppID(unchecked: "lineup"), zone: .utc, at: now, tuning: Tuning())
        var patch = DevicePatch()
        patch.user = .value("owner")
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.spoilerFree = true
        patch.sound = true
        patch.pushToStart = .value(PushAddress(token: [0xa1], gateway: .production))
        patch.personalisation = .readable(
            Taste(teams: [:], leagues: ["NBA": 5], minimumWorth: 60, maxGames: games.count))
        var renderer = PayloadRenderer(profile: lineup)
        var bytes: [[UInt8]] = []
        func apply(_ event: LaneEvent) {
            for case .send(let order) in lane.apply(event, at: now, in: around) {
                if let request = renderer.request(for: order, snapshot: snapshot, id: someID) {
                    bytes.append(request.payload)
                }
                let verdict: Verdict = order.event == .start ? .unknown : .accepted
                _ = lane.apply(.verdict(order.number, verdict), at: now, in: around)
            }
        }
        apply(.registered(patch))
        // Which games: by selection, so that no worth decides it.
        apply(.selected(games: games, pinned: games[0], muted: [], syncedAt: now))
        apply(.owned(token: [0xa1], from: nil, handover: nil))
        now = now.advanced(bySeconds: 31)
        apply(.look)
        now = now.advanced(bySeconds: 31)
        apply(
            .cardToken(
                CardToken(
                    key: .slate, activity: ActivityID(unchecked: "a"),
                    address: PushAddress(token: [1], gateway: .production), startedBy: .push, began: nil)))
        apply(.removed)
        return bytes
    }
}

extension RankedGame {
    /// The same game in the same phase with everything else that P2 hides changed.
    fileprivate func withOtherScores(_ random: inout Seeded) -> RankedGame {
        let details: [JSONValue?] = [
            nil, .object([JSONValue.Member(key: "play", value: .string("goal"))]),
            .object([JSONValue.Member(key: "outs", value: .integer(2))]), .integer(7),
        ]
        let isLater = isBeyondRegulation
        return RankedGame(
            id: id, sport: sport, league: league, home: home, away: away, startsAt: startsAt, phase: phase,
            period: isLater ? (period ?? 0) + Int.random(in: 0...3, using: &random) : period,
            clock: isLater ? "0\(Int.random(in: 0...9, using: &random)):11" : clock,
            homeScore: Int.random(in: 0...150, using: &random), awayScore: Int.random(in: 0...150, using: &random),
            detail: details.randomElement(using: &random) ?? nil, worth: Double.random(in: 0...100, using: &random),
            moments: MomentKind.allCases.filter { _ in random.chance(30) },
            lift: random.chance(50) ? Double.random(in: 0...30, using: &random) : 0, isInWindow: isInWindow,
            isBeyondRegulation: isBeyondRegulation, changeVersion: changeVersion,
            momentsBegun: UInt32.random(in: 0...9, using: &random))
    }
}
