import CardRules
import Lanes
import Simulation

/// What a key asks of the night.
enum LiveOrder: Hashable, Sendable {
    case leave
    case pause
    /// Throw the lane of a phone away; it goes on from the store.
    case kill(phone: Int, device: DeviceID)
    /// Make a moment of a game up for one phone.
    case moment(device: DeviceID, game: GameID)
}

/// What the person at the keys looks at: which phone is picked, what is opened. Turns keys into orders, and the night
/// into what is shown.
struct LiveDesk {
    private let night: LiveNight
    /// Places in the fleet, in the order in which they are shown.
    private let phones: [Int]
    private var picked = 0
    private var aside = 1
    private var showsDecisions = false
    private var showsHelp = false
    private var meter = RateMeter()

    init(_ night: LiveNight) {
        self.night = night
        phones = night.watched
    }

    // MARK: - Keys

    mutating func press(_ key: Key) -> LiveOrder? {
        switch key {
        case .character("q"): return .leave
        case .character("p"), .character(" "): return .pause
        case .character("?"): showsHelp.toggle()
        case .character("d"), .enter: showsDecisions.toggle()
        case .escape: (showsDecisions, showsHelp) = (false, false)
        case .character("j"), .down, .right: picked = min(picked + 1, phones.count - 1)
        case .character("k"), .up, .left: picked = max(picked - 1, 0)
        case .character("x"): return pickedPhone.map { .kill(phone: $0.number, device: $0.device) }
        case .character("m"):
            guard let phone = pickedPhone, let game = momentsGame(of: phone) else { return nil }
            return .moment(device: phone.device, game: game)
        case .character(let character):
            if let number = character.wholeNumberValue, number > 0, number <= aside {
                picked = min(firstPhone + number - 1, phones.count - 1)
            }
        case .other: break
        }
        return nil
    }

    private var firstPhone: Int { picked - picked % aside }

    private var pickedPhone: Phone? {
        phones.indices.contains(picked) ? night.world.fleet.phone(phones[picked]) : nil
    }

    /// The best game on the card that does not stand in front of it and is not over; else the front.
    private func momentsGame(of phone: Phone) -> GameID? {
        guard let content = phone.cardInSight?.content else { return nil }
        let snapshot = night.board.snapshot
        let others = content.games.filter { $0.id != content.front && $0.phase != .final }
        return others.max { (snapshot.game($0.id)?.worth ?? 0) < (snapshot.game($1.id)?.worth ?? 0) }?.id
            ?? content.front
    }

    // MARK: - The night

    /// - Parameter instant: real time, for what is counted by the second.
    mutating func state(
        columns: Int, isPaused: Bool, message: String?, at instant: ContinuousClock.Instant
    ) -> ViewState {
        aside = LiveLayout.phonesAside(columns: columns)
        let (now, slate, counts) = (night.world.clock.now, night.board.snapshot, night.trace.counts)
        let fronts = night.world.fleet.withJudge { $0.cardsInFront }
        var state = ViewState(now: now, begins: night.begins, end: night.end, speed: night.speed)
        state.isPaused = isPaused
        state.games = ranking(slate, fronts)
        (state.rates.pushes, state.rates.verdicts) = meter.rates(
            pushes: counts.sent.values.reduce(0, +), verdicts: counts.answered, at: instant)
        state.rates.starts = counts.sent[.start] ?? 0
        state.rates.updates = counts.sent[.update] ?? 0
        state.rates.ends = counts.sent[.end] ?? 0
        state.rates.refused = counts.refused.values.reduce(0, +)
        state.rates.unknown = counts.unknown
        state.rates.cards = fronts.values.reduce(0, +)
        state.firstPhone = firstPhone
        state.phonesInAll = phones.count
        state.picked = picked - firstPhone
        state.phones = phones.dropFirst(firstPhone).prefix(aside).map { face(of: night.world.fleet.phone($0)) }
        state.takeovers = night.log.takeovers.map { happening($0.entry, of: $0.device, in: slate) }
        if showsDecisions, let phone = pickedPhone {
            state.decisions = night.log.decisions(of: phone.profile.records).map { happening($0, of: nil, in: slate) }
        }
        state.showsHelp = showsHelp
        state.access = night.access
        state.message = message
        return state
    }

    private func ranking(_ slate: SlateSnapshot, _ fronts: [GameID: Int]) -> [ViewState.RankedRow] {
        slate.games.sorted { left, right in
            if left.isInWindow != right.isInWindow { return left.isInWindow }
            if !left.isInWindow, (left.phase == .pre) != (right.phase == .pre) { return left.phase == .pre }
            if left.isInWindow, left.worth != right.worth { return left.worth > right.worth }
            return (left.startsAt ?? .distantFuture, left.id) < (right.startsAt ?? .distantFuture, right.id)
        }
        .map { game in
            ViewState.RankedRow(
                game: GameFace(game), worth: Int(game.worth.rounded()), isInWindow: game.isInWindow,
                cardsInFront: fronts[game.id] ?? 0)
        }
    }

    private func face(of phone: Phone) -> PhoneFace {
        var face = PhoneFace(name: phone.device.text, isSpoilerFree: phone.profile.spoilerFree)
        if let card = phone.cardInSight {
            face.card = card.content.games.map { GameFace($0, spoilerFree: phone.profile.spoilerFree) }
            face.isStale = card.state == .stale
        } else {
            face.why = excuse(of: phone)
        }
        return face
    }

    /// The rule that decided last that no card stands.
    private func excuse(of phone: Phone) -> String {
        let last = night.log.decisions(of: phone.profile.records).last {
            $0.kind == .withheld || $0.kind == .end || $0.kind == .report
        }
        if let last { return [last.rule?.rawValue, last.detail].compactMap { $0 }.joined(separator: ": ") }
        if phone.app == .notInstalled { return "its app was not opened yet" }
        let version = phone.profile.osVersion
        if version < .withPushToStart { return "S2: iOS \(version.major).\(version.minor) has no push-to-start" }
        return "none of its games is on"
    }

    private func happening(
        _ entry: TimelineEntry, of device: DeviceID?, in slate: SlateSnapshot
    ) -> ViewState.Happening {
        // Decisions name games by id.
        let words = entry.detail.split(separator: " ").map { word in
            slate.game(GameID(unchecked: String(word))).map { "\($0.away) at \($0.home)" } ?? String(word)
        }
        let text = words.joined(separator: " ")
        return ViewState.Happening(
            at: entry.at, phone: device?.text, rule: entry.rule?.rawValue,
            text: device == nil ? "\(entry.kind.rawValue.padded(to: 9)) \(text)" : text)
    }
}

/// The night as the desk looks at it, from a thread of its own.
struct LiveNight: Sendable {
    let world: DemoWorld
    let trace: DemoTrace
    let log: DecisionLog
    let board: SlateBoard
    let begins: WallTime
    let end: WallTime
    let speed: String
    /// Places in the fleet.
    let watched: [Int]
    /// Where the API is, and its key.
    var access: [String] = []

    /// As many phones can be picked.
    static let mostWatched = 200

    /// A few kinds of phone side by side first, then all in their order: one that wants no spoilers, and one that cannot
    /// be started from outside.
    static func watched(of profiles: [PhoneProfile]) -> [Int] {
        var places = Array(profiles.indices.prefix(mostWatched))
        func bring(to target: Int, _ isWanted: (PhoneProfile) -> Bool) {
            guard places.count > target,
                let found = places.dropFirst(target).firstIndex(where: { isWanted(profiles[$0]) })
            else { return }
            places.insert(places.remove(at: found), at: target)
        }
        func chooses(_ profile: PhoneProfile) -> Bool {
            profile.user != nil && profile.osVersion >= .withPushToStart && profile.pushToStart == .prompt
                && profile.openings.first?.choice != nil && profile.swipesAfter == nil && !profile.forceQuits
        }
        bring(to: 0) { chooses($0) && !$0.spoilerFree }
        bring(to: 1) { chooses($0) && $0.spoilerFree }
        bring(to: 2) { chooses($0) && !$0.spoilerFree }
        bring(to: 5) { $0.osVersion < .withPushToStart }
        return places
    }
}

extension PhoneProfile {
    /// Every record that it reports under tonight.
    var records: [DeviceID] { [device] + [secondRecord?.device].compactMap { $0 } }
}

extension Phone {
    /// The slate card that its owner looks at: the newest that stands.
    var cardInSight: PhoneCard? { cards.last { $0.isAlive && $0.key == .slate } }
}

/// Counts by the second, over the last few.
struct RateMeter {
    private var samples: [(at: ContinuousClock.Instant, pushes: Int, verdicts: Int)] = []
    private static let span = Duration.seconds(2)

    mutating func rates(pushes: Int, verdicts: Int, at now: ContinuousClock.Instant) -> (Double, Double) {
        samples.append((now, pushes, verdicts))
        while samples.count > 2, now - samples[1].at >= RateMeter.span { samples.removeFirst() }
        let first = samples[0]
        let passed = (now - first.at).components
        let seconds = Double(passed.seconds) + Double(passed.attoseconds) * 1e-18
        guard seconds > 0 else { return (0, 0) }
        return (Double(pushes - first.pushes) / seconds, Double(verdicts - first.verdicts) / seconds)
    }
}
