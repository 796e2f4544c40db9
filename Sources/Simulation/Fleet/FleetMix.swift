internal import CardRules

/// How a fleet is mixed: shares of all phones, 0...1, drawn for each phone apart. The defaults are a plausible
/// audience, with every kind of trouble in it somewhere.
public struct FleetMix: Hashable, Sendable {
    /// Choose games themselves; the others leave it to their personalisation.
    public var selects = 0.6
    /// Of those that select: pin a game, mute one, change their choice at a later opening.
    public var pins = 0.15
    public var mutes = 0.15
    public var changesMind = 0.4
    public var spoilerFree = 0.2
    public var sound = 0.3
    public var frequentUpdates = 0.3
    /// Below iOS 17.2: no push-to-start token.
    public var oldSystem = 0.05
    /// iOS 17.2 to 17.x, where `input-push-token` is not known yet.
    public var middleSystem = 0.1
    public var forceQuits = 0.05
    public var swipes = 0.05
    /// Report under another device record from mid-evening on (S7).
    public var changesRecord = 0.04
    /// Handsets with a second build, from the sandbox; it counts as one more phone.
    public var secondBuild = 0.04
    /// Start a card of their own at one opening (L3).
    public var startsOwnCard = 0.02
    public var changesToken = 0.03
    public var changesTokenInSilence = 0.0
    public var readsNoneAtLaunch = 0.02
    public var hasNoRegistration = 0.01
    /// A personalisation that this server cannot read (A2).
    public var unreadable = 0.01
    /// No signed-in user (S1).
    public var signedOut = 0.01
    /// With quiet hours from 22:30 to 07:00.
    public var quietHours = 0.0
    /// Badly made apps (ref P28).
    public var lateObservers = 0.0
    public var killsUnfitCards = 0.0
    public var reportsEndedCards = 0.0
    public var reportsNone = 0.0
    /// Most openings after the first launch.
    public var laterOpenings = 4

    public init() {}
}

/// Draws the owners of a fleet.
struct FleetDraw {
    let night: FleetNight
    let mix: FleetMix
    let app: (bundleID: String, maxGames: Int)
    var random: SeededGenerator

    private static let zones = [
        "America/New_York", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
        "Europe/London", "Europe/Berlin", "Asia/Kolkata",
    ]

    /// - Returns: one profile, or two for a handset with two builds.
    mutating func handset(_ number: Int) -> [PhoneProfile] {
        let launch = WallTime(
            milliseconds: random.between(night.begins, max(night.begins, night.firstStart.advanced(bySeconds: -600))))
        var profile = PhoneProfile(
            handset: number, bundleID: app.bundleID, osVersion: system(),
            timeZone: Self.zones.randomElement(using: &random) ?? "UTC",
            user: random.chance(mix.signedOut) ? nil : "u\(number)", device: DeviceID(unchecked: "d\(number)"),
            openings: [])
        profile.spoilerFree = random.chance(mix.spoilerFree)
        profile.sound = random.chance(mix.sound)
        profile.frequentUpdates = random.chance(mix.frequentUpdates)
        if random.chance(mix.quietHours) { profile.quietHours = QuietHours(fromMinute: 1350, toMinute: 420) }
        profile.forceQuits = random.chance(mix.forceQuits)
        if random.chance(mix.swipes) { profile.swipesAfter = Double.random(in: 120...5400, using: &random) }
        profile.pushToStart = habit()
        profile.app = appHabit()
        // Such an app does not hear of a new token either.
        if profile.app == .lateObservers, profile.pushToStart == .changesAfterFirstStart {
            profile.pushToStart = .changesInSilence
        }
        let teams = followedTeams()
        profile.personalisation = taste(for: teams)
        profile.openings = openings(from: launch, teams: teams, spoilerFree: profile.spoilerFree)
        // Where no token tells that two records are one phone, they are two to the server (S7).
        if random.chance(mix.changesRecord), profile.openings.count > 1, profile.pushToStart != .changesInSilence {
            profile.secondRecord = PhoneProfile.SecondRecord(
                device: DeviceID(unchecked: "d\(number)-new"),
                fromOpening: Int.random(in: 1..<profile.openings.count, using: &random))
        }
        guard random.chance(mix.secondBuild) else { return [profile] }
        var build = profile
        build.gateway = .sandbox
        build.device = DeviceID(unchecked: "d\(number)-dev")
        build.secondRecord = nil
        return [profile, build]
    }

    private mutating func system() -> OSVersion {
        if random.chance(mix.oldSystem) { return OSVersion(major: 17, minor: Int.random(in: 0...1, using: &random)) }
        if random.chance(mix.middleSystem) { return OSVersion(major: 17, minor: Int.random(in: 2...6, using: &random)) }
        return OSVersion(major: [18, 26, 27].randomElement(using: &random) ?? 26, minor: 1)
    }

    private mutating func habit() -> PhoneProfile.PushToStartHabit {
        if random.chance(mix.hasNoRegistration) { return .none }
        if random.chance(mix.changesToken) { return .changesAfterFirstStart }
        if random.chance(mix.changesTokenInSilence) { return .changesInSilence }
        return random.chance(mix.readsNoneAtLaunch) ? .noneAtLaunch : .prompt
    }

    private mutating func appHabit() -> PhoneProfile.AppHabit {
        let shares: [(PhoneProfile.AppHabit, Double)] = [
            (.lateObservers, mix.lateObservers), (.killsUnfitCards, mix.killsUnfitCards),
            (.reportsEndedCards, mix.reportsEndedCards), (.reportsNone, mix.reportsNone),
        ]
        guard shares.contains(where: { $0.1 > 0 }) else { return .good }
        var draw = Double.random(in: 0..<1, using: &random)
        for (habit, share) in shares {
            if draw < share { return habit }
            draw -= share
        }
        return .good
    }

    private mutating func followedTeams() -> [String: Double] {
        var teams: [String: Double] = [:]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let game = night.games.randomElement(using: &random) else { break }
            teams[random.chance(0.5) ? game.home : game.away] = Double(Int.random(in: 3...10, using: &random)) / 10
        }
        return teams
    }

    private mutating func taste(for teams: [String: Double]) -> Personalisation {
        if random.chance(mix.unreadable) { return .unreadable(#"{"version":2,"interests":[]}"#) }
        var leagues: [String: Double] = [:]
        if let league = night.games.randomElement(using: &random)?.league {
            leagues[league] = Double(Int.random(in: 0...10, using: &random))
        }
        return .readable(
            Taste(
                teams: teams, leagues: leagues, minimumWorth: Double(Int.random(in: 9...15, using: &random) * 5),
                maxGames: random.chance(0.8) ? app.maxGames : Int.random(in: 1...app.maxGames, using: &random)))
    }

    private mutating func openings(
        from launch: WallTime, teams: [String: Double], spoilerFree: Bool
    ) -> [PhoneProfile.Opening] {
        var choice = random.chance(mix.selects) ? firstChoice(teams: teams) : nil
        let ownCardAt = random.chance(mix.startsOwnCard) ? 1 : nil
        var openings = [PhoneProfile.Opening(at: launch, seconds: 60, choice: choice)]
        let last = max(launch, night.lastStart.advanced(bySeconds: 9000))
        let times = (0..<Int.random(in: 0...mix.laterOpenings, using: &random))
            .map { _ in WallTime(milliseconds: random.between(launch.advanced(bySeconds: 120), last)) }.sorted()
        for (place, time) in times.enumerated() {
            var opening = PhoneProfile.Opening(at: time, seconds: Double.random(in: 20...300, using: &random))
            if let before = choice, random.chance(mix.changesMind) {
                let after = changed(before)
                choice = after
                opening.choice = after
            }
            if place + 1 == ownCardAt, let choice {
                opening.ownCard = ownCard(of: choice, at: time, spoilerFree: spoilerFree)
            }
            openings.append(opening)
        }
        return openings
    }

    private mutating func firstChoice(teams: [String: Double]) -> PhoneProfile.Choice {
        var games = night.games.filter { teams[$0.home] != nil || teams[$0.away] != nil }.map(\.id)
        for game in night.games.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
        where !games.contains(game.id) {
            games.append(game.id)
        }
        var choice = PhoneProfile.Choice(games: games)
        if random.chance(mix.pins) { choice.pinned = games.randomElement(using: &random) }
        if random.chance(mix.mutes), games.count > 1, let muted = games.randomElement(using: &random),
            muted != choice.pinned
        {
            choice.muted = [muted]
        }
        return choice
    }

    /// Adds a game, drops one, mutes one, or pins one.
    private mutating func changed(_ choice: PhoneProfile.Choice) -> PhoneProfile.Choice {
        var after = choice
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            if let game = night.games.randomElement(using: &random), !after.games.contains(game.id) {
                after.games.insert(game.id, at: 0)
            }
        case 1: if after.games.count > 1 { after.games.removeLast() }
        case 2: if let game = after.games.randomElement(using: &random) { after.muted = [game] }
        default: after.pinned = after.games.randomElement(using: &random)
        }
        if let pinned = after.pinned, !after.games.contains(pinned) || after.muted.contains(pinned) {
            after.pinned = nil
        }
        after.muted.removeAll { !after.games.contains($0) }
        return after
    }

    /// What an app that knows only the schedule would show.
    private func ownCard(of choice: PhoneProfile.Choice, at time: WallTime, spoilerFree: Bool) -> SlateContent? {
        let chosen = choice.games.filter { !choice.muted.contains($0) }
            .compactMap { id in night.games.first { $0.id == id } }
            .filter { $0.startsAt.advanced(bySeconds: -240) <= time }
        // Later than that this app cannot tell whether a game is still on, and starts no card of its own.
        guard chosen.allSatisfy({ time <= $0.startsAt.advanced(bySeconds: 5400) }) else { return nil }
        let games =
            chosen
            .prefix(app.maxGames)
            .map { game in
                SlateContent.Game(
                    id: game.id, sport: game.sport, league: game.league, home: game.home, away: game.away,
                    phase: time < game.startsAt ? .pre : .live, homeScore: spoilerFree ? nil : 0,
                    awayScore: spoilerFree ? nil : 0)
            }
        guard let front = games.first else { return nil }
        return SlateContent(games: Array(games), front: front.id, spoilerFree: spoilerFree, asOf: time.unixSeconds)
    }
}

extension SeededGenerator {
    /// Milliseconds of a time between two, both included.
    fileprivate mutating func between(_ from: WallTime, _ to: WallTime) -> Int64 {
        Int64.random(in: from.milliseconds...max(from.milliseconds, to.milliseconds), using: &self)
    }
}
