public import CardRules
internal import Lanes
internal import PushWire

/// The whole system on one thread, one clock and one seed: the production actors of the server, a store and a gateway that
/// fail, phones, a feed, callers of sessions, an operator, and a judge who watches the phones.
///
/// Used by one caller at a time. `run` does everything: it returns when the virtual day is over.
public final class World {
    static let app = AppID(unchecked: "lineup")
    static let bundleID = "com.example.lineup"
    /// When each day begins: Saturday 2026-10-24, 16:00 UTC; the night after it has 25 hours in Europe.
    public static let start = WallTime(seconds: 1_792_857_600)

    public let options: WorldOptions
    public let plan: FaultPlan
    /// What is true; the server's own clock may be set otherwise.
    var now = World.start
    let ends: WallTime
    let clock = ManualClock(now: World.start)
    let disk = MemoryStore()
    let fleet: PhoneFleet
    let executor: SeededExecutor
    let zone: @Sendable (String) -> Zone?
    var events = EventQueue<WorldEvent>()
    /// A generator for each part, so that one draws the same whatever another does.
    var random: WorldRandom
    var trace = TraceHash()

    var server: ServerProcess?
    /// Counts processes: what an earlier one asked for is no longer answered.
    var incarnation = 0
    var tuning: Tuning
    let feed: FeedPlan
    let sessions: [SessionPlan]
    var sessionStages: [SessionStage]
    /// The tick that is next, and whether it was posted to a process that still lives.
    var nextTick = 0
    var isTickPosted = false
    /// The tick that the judge was told of last, and the process that it went to.
    var told = (tick: -1, incarnation: 0)
    var phones: [PhoneLine]
    let phoneOf: [DeviceID: Int]
    var gateways: [Gateway: SimulatedGateway] = [:]
    /// Commits land one after the other: the time of the last one so far.
    var lastLanding = World.start
    var commits: [Int: PendingCommit] = [:]
    var pushes: [Int: PendingPush] = [:]
    /// Devices whose start came to nothing, as their lane knows and the store does not yet; with the count at that time.
    var unwrittenFailures: [DeviceID: Int] = [:]
    /// When the last push to an address arrives.
    var lastArrivals: [PushAddress: WallTime] = [:]
    var counted = 0
    var tally = WorldTally()
    private var nextCheck: WallTime
    private let calms: WallTime

    /// - Parameter zone: rules of a time zone by its IANA name; `nil` for one that is not known.
    public init(_ options: WorldOptions, zone: @escaping @Sendable (String) -> Zone?) {
        self.options = options
        self.zone = zone
        var seed = SeededGenerator(seed: options.seed)
        random = WorldRandom(from: &seed)
        executor = SeededExecutor(seed: seed.next())
        tuning = options.tuning
        let hours = max(2, options.hours)
        ends = World.start.advanced(bySeconds: hours * 3600)
        let lines = NightGenerator(
            seed: seed.next(), announcedAt: World.start.advanced(bySeconds: 60), games: options.games
        ).lines()
        var own = seed.split()
        // Kinds of faults that are added later leave the rest of a seed's day as it is.
        var planned = own.split()
        let spare = max(0, hours - 1) * 3600
        plan = FaultPlan(
            allowed: options.faults, all: options.hasAllFaults, from: World.start,
            until: World.start.advanced(bySeconds: spare * Double.random(in: 0.15...0.9, using: &own)),
            phones: options.phones, random: &planned)
        let sensitive = plan.kinds.contains(.clockSteps) ? World.mostStepSeconds : 0
        var judging = JudgeOptions()
        judging.inFlightSeconds += sensitive
        judging.hearsReportsOnArrival = true
        var mix = FleetMix()
        mix.quietHours = 0.15
        mix.lateObservers = 0.15
        mix.killsUnfitCards = 0.05
        mix.reportsEndedCards = 0.05
        mix.reportsNone = 0.05
        fleet = PhoneFleet(
            handsets: options.phones, night: FleetNight(lines: lines, begins: World.start), seed: seed.next(),
            bundleID: World.bundleID, mix: mix, judge: Judge(tuning: options.tuning, options: judging))
        let profiles = fleet.profiles
        sessions = SessionPlan.draw(for: profiles, from: World.start, until: ends, random: &own)
        sessionStages = sessions.map { _ in .planned }
        feed = FeedPlan(lines, faults: plan, random: &own)
        phones = profiles.map { _ in PhoneLine() }
        var phoneOf: [DeviceID: Int] = [:]
        for (number, profile) in profiles.enumerated() {
            phoneOf[profile.device] = number
            if let second = profile.secondRecord { phoneOf[second.device] = number }
        }
        self.phoneOf = phoneOf
        for gateway in Gateway.allCases {
            gateways[gateway] = SimulatedGateway(gateway, seed: seed.next(), at: World.start)
        }
        nextCheck = World.start
        calms = plan.ends.advanced(bySeconds: World.holdSeconds)
    }

    /// Longest hold of S10, G3 and G5, with some air: after it the world must settle.
    static let holdSeconds = 2400.0
    static let mostStepSeconds = 30.0

    // MARK: - Life

    /// Lives the whole day.
    public func run() -> WorldResult {
        if !plan.kinds.isEmpty { fleet.withJudge { $0.isDisturbed() } }
        schedule()
        boot()
        while let next = settleAndLook(), next <= ends {
            pass(to: max(next, now))
            perform()
        }
        crash()
        executor.drain()
        return result()
    }

    private func schedule() {
        for (place, episode) in plan.episodes.enumerated() {
            events.add(.begins(place), at: episode.from)
            events.add(.ends(place), at: episode.until)
        }
        for (place, session) in sessions.enumerated() {
            events.add(.openSession(place), at: session.opens)
            events.add(.stopSession(place), at: session.stops)
        }
        if let first = feed.ticks.first { events.add(.feed, at: first.at) }
        if !plan.kinds.isEmpty { events.add(.calm, at: calms) }
        for phone in phones.indices where plan.kinds.contains(.wrongGateway) {
            phones[phone].namesWrongGateway = random.phones.chance(plan.share(of: .wrongGateway, at: plan.begins))
        }
    }

    /// Lets the server do all that it can do without time passing.
    /// - Returns: when something happens next; `nil`: never.
    private func settleAndLook() -> WallTime? {
        while true {
            executor.drain()
            if let server {
                let asks = server.ports.take()
                for ask in asks {
                    if self.server === server {
                        take(ask)
                    } else if case .commit(_, let done) = ask {
                        done(.failed(.unavailable(detail: "the process is gone")))
                    }
                }
                if !asks.isEmpty { continue }
                if server.stage != .starting, server.wakes == nil {
                    server.wakes = .some(nil)
                    let ports = server.ports
                    server.order { ports.add(.done(.looked(next: await $0.nextDeadline))) }
                    continue
                }
            }
            break
        }
        let wake = server?.wakes.flatMap { $0 }.map { now.advanced(bySeconds: $0.seconds(since: clock.now)) }
        return [events.next, fleet.nextTime, wake, nextCheck].compactMap { $0 }.min()
    }

    private func pass(to time: WallTime) {
        guard time > now else { return }
        clock.advance(bySeconds: time.seconds(since: now))
        now = time
    }

    private func perform() {
        while let event = events.removeFirst(until: now) {
            trace.add(now.milliseconds, event.code)
            perform(event)
        }
        for report in fleet.run(until: now) { hear(report) }
        if let server, server.stage != .starting {
            if let wake = server.wakes.flatMap({ $0 }), wake <= clock.now { server.order { await $0.passTime() } }
            server.wakes = nil
        }
        if now >= nextCheck {
            fleet.withJudge { $0.check(at: now) }
            nextCheck = now.advanced(bySeconds: now >= calms ? 15 : 60)
        }
    }

    private func perform(_ event: WorldEvent) {
        switch event {
        case .boot(let process): if process == incarnation { boot() }
        case .land(let number): land(number)
        case .answerCommit(let number): answerCommit(number)
        case .arrive(let number): arrive(number)
        case .answerPush(let number): answerPush(number)
        case .deliver(let delivery): deliver(delivery)
        case .call(let phone): call(phone)
        case .callFails(let phone, let call): callFails(phone, call)
        case .feed: postTick()
        case .openSession(let place): openSession(place)
        case .stopSession(let place): stopSession(place)
        case .kill(let device, let again): kill(device, again: again)
        case .die(let process): if process == incarnation { dieSuddenly() }
        case .begins(let place): begins(plan.episodes[place])
        case .ends(let place): ends(plan.episodes[place])
        case .probe(let gateway): probe(gateway)
        case .operate(let gateway): operate(gateway)
        case .calm: fleet.withJudge { $0.calms(at: now) }
        case .stopGivesUp(let process): if process == incarnation, server?.stage == .stopping { restart(after: 1) }
        }
    }

    /// What the server asked for.
    private func take(_ ask: ServerPorts.Ask) {
        switch ask {
        case .commit(let batch, let done): take(batch, done)
        case .push(let push): take(push)
        case .pause(let gateway, let isPaused): pause(gateway, isPaused)
        case .reply(let phone, let call, let reply): hear(reply, phone: phone, call: call)
        case .trace(let event): note(event)
        case .done(let errand): done(errand)
        }
    }

    private func note(_ event: TraceEvent) {
        switch event {
        case .restarted(let device, _):
            tally.laneRestarts += 1
            if let phone = phoneOf[device] { fleet.withJudge { $0.laneRestarts(ofPhone: phone, at: now) } }
            tell(phoneOf[device], "\(device): its lane starts again")
        case .parked: tally.parked += 1
        case .fenced: tally.fenced += 1
        case .decided(let device, let entry):
            let rule = entry.rule.map { "\($0)".uppercased() } ?? "-"
            tell(phoneOf[device], "\(device) decides: \(entry.kind.rawValue), \(rule), \(entry.detail)")
        default: break
        }
    }

    private func done(_ errand: Errand) {
        switch errand {
        case .ready: isUp()
        case .notReady: restart(after: 1)
        case .looked(let next): server?.wakes = .some(next)
        case .ticked(let place, let fault): ticked(place, fault)
        case .opened(let place, let fault): opened(place, fault)
        case .stopped(let place, let fault): stopped(place, fault)
        case .flushed: if server?.stage == .stopping { restart(after: 1) }
        }
    }

    /// A line of a phone's story.
    func tell(_ phone: Int?, _ text: @autoclosure () -> String) {
        guard options.storyLines > 0, let phone else { return }
        phones[phone].story.append(StoryLine(at: now, text: text()))
        if phones[phone].story.count > options.storyLines { phones[phone].story.removeFirst() }
    }

    func tellAll(_ text: String) { for phone in phones.indices { tell(phone, text) } }

    private func result() -> WorldResult {
        let report = fleet.withJudge { $0.report(at: now) }
        return WorldResult(
            seed: options.seed, hash: trace.value, jobs: executor.jobs,
            phoneNights: Double(phones.count) * ends.seconds(since: World.start) / 86_400, faults: plan.kinds,
            judged: report, tally: tally,
            devices: fleet.profiles.map(\.device),
            stories: phones.map(\.story))
    }
}

/// What happens in a world at its time.
enum WorldEvent {
    case boot(Int)
    case land(Int)
    case answerCommit(Int)
    case arrive(Int)
    case answerPush(Int)
    case deliver(GatewayDelivery)
    case call(Int)
    case callFails(Int, call: Int)
    case feed
    case openSession(Int)
    case stopSession(Int)
    case kill(DeviceID, again: Bool)
    case die(Int)
    case begins(Int)
    case ends(Int)
    case probe(Gateway)
    case operate(Gateway)
    case calm
    case stopGivesUp(Int)

    /// For the hash of the run.
    var code: Int64 {
        switch self {
        case .boot: 1
        case .land(let number): 2 + Int64(number) << 8
        case .answerCommit(let number): 3 + Int64(number) << 8
        case .arrive(let number): 4 + Int64(number) << 8
        case .answerPush(let number): 5 + Int64(number) << 8
        case .deliver: 6
        case .call(let phone): 7 + Int64(phone) << 8
        case .callFails(let phone, _): 8 + Int64(phone) << 8
        case .feed: 9
        case .openSession: 10
        case .stopSession: 11
        case .kill: 12
        case .begins(let place): 13 + Int64(place) << 8
        case .ends(let place): 14 + Int64(place) << 8
        case .probe: 15
        case .calm: 16
        case .stopGivesUp: 17
        case .operate: 18
        case .die: 19
        }
    }
}

/// One generator a part.
struct WorldRandom {
    var store: SeededGenerator
    var gateway: SeededGenerator
    var phones: SeededGenerator
    var node: SeededGenerator
    var callers: SeededGenerator

    init(from seed: inout SeededGenerator) {
        store = seed.split()
        gateway = seed.split()
        phones = seed.split()
        node = seed.split()
        callers = seed.split()
    }
}

/// A hash over all that happened, in order: two runs with one are the same run.
struct TraceHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ words: Int64...) {
        for word in words {
            value = (value ^ UInt64(bitPattern: word)) &* 0x100_0000_01b3
            value ^= value >> 29
        }
    }

    mutating func add(_ bytes: [UInt8]) { for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 } }
}
