public import CardRules

/// One install of the app on a simulated phone, with the part of iOS that concerns it. Source: ref 8.3; the app is
/// one of P28's.
///
/// A value: time and randomness come from outside, and what it does is a function of its profile, its seed and what it
/// receives.
public struct Phone: Sendable {
    /// Its place in the fleet.
    public let number: Int
    public let profile: PhoneProfile
    public let options: PhoneOptions
    /// Those in sight and those that ended lately, oldest first, at most `cardsKept`.
    public internal(set) var cards: [PhoneCard] = []
    public internal(set) var app = AppState.notInstalled
    /// What the app was told last.
    public internal(set) var choice: PhoneProfile.Choice?
    /// The record that the app reports under now.
    public internal(set) var device: DeviceID
    /// The push-to-start token that iOS holds; `nil` below iOS 17.2 and where there is none.
    public internal(set) var pushToStart: [UInt8]?
    /// Ref P7: falls below zero when starts go on.
    public internal(set) var startBudget: Int
    public internal(set) var log: [PhoneLogLine] = []
    /// Alerts shown (ref P30).
    public internal(set) var alerts = 0
    var refilledAt: WallTime?
    var random: SeededGenerator
    var agenda: [Appointment] = []
    var hasChangedToken = false

    static let cardsKept = 16

    /// Where the app stands.
    public enum AppState: Hashable, Sendable {
        /// Before its first launch. -> running.
        case notInstalled
        /// In front. -> suspended, forceQuit.
        case running
        /// iOS wakes it for a start. -> running.
        case suspended
        /// iOS does not wake it. -> running.
        case forceQuit
    }

    struct Appointment: Sendable {
        let at: WallTime
        let action: Action

        enum Action: Sendable {
            case open(Int)
            case reread
            case close
            case token(ActivityID)
            case stale(ActivityID)
            case limit(ActivityID)
            case remove(ActivityID)
            case swipe(ActivityID)
        }
    }

    public init(number: Int, profile: PhoneProfile, options: PhoneOptions = PhoneOptions(), seed: UInt64) {
        self.number = number
        self.profile = profile
        self.options = options
        device = profile.device
        startBudget = options.startBudget
        random = SeededGenerator(seed: seed)
        if let first = profile.openings.first { schedule(.open(0), at: first.at) }
    }

    /// When the phone acts next by itself; `nil`: never, unless something reaches it.
    public var nextTime: WallTime? { agenda.first?.at }

    public var hasPushToStart: Bool { profile.osVersion >= .withPushToStart && profile.pushToStart != .none }

    /// Lets everything happen that is due until then, in order of time.
    public mutating func run(until now: WallTime, into output: inout PhoneOutput) {
        while let next = agenda.first, next.at <= now {
            agenda.removeFirst()
            perform(next.action, at: next.at, into: &output)
        }
    }

    mutating func schedule(_ action: Appointment.Action, at time: WallTime) {
        let place = agenda.firstIndex { $0.at > time } ?? agenda.endIndex
        agenda.insert(Appointment(at: time, action: action), at: place)
    }

    private mutating func perform(_ action: Appointment.Action, at now: WallTime, into output: inout PhoneOutput) {
        switch action {
        case .open(let number): open(number, at: now, into: &output)
        case .reread: if app == .running { register(at: now, into: &output) }
        case .close: if app == .running { app = profile.forceQuits ? .forceQuit : .suspended }
        case .token(let id): issueToken(of: id, at: now, into: &output)
        case .stale(let id): becomeStale(id, at: now, into: &output)
        case .limit(let id):
            end(id, by: .limit, at: now, removeAt: now.advanced(bySeconds: options.lingerSeconds), into: &output)
        case .remove(let id): remove(id, bySwipe: false, at: now, into: &output)
        case .swipe(let id): swipe(id, at: now, into: &output)
        }
    }

    func index(of id: ActivityID) -> Int? { cards.lastIndex { $0.activity == id } }

    mutating func write(_ text: String, process: String = "liveactivitiesd", at now: WallTime) {
        guard options.logLinesKept > 0 else { return }
        if log.count >= options.logLinesKept { log.removeFirst(log.count - options.logLinesKept + 1) }
        log.append(PhoneLogLine(at: now, process: process, text: text))
    }

    /// Ref P7: units that have come back since.
    mutating func refillBudget(at now: WallTime) {
        guard let since = refilledAt else {
            refilledAt = now
            return
        }
        let units = Int(max(0, now.seconds(since: since) / options.startRefillSeconds))
        guard units > 0 else { return }
        startBudget = min(options.startBudget, startBudget + units)
        refilledAt = since.advanced(bySeconds: Double(units) * options.startRefillSeconds)
    }
}
