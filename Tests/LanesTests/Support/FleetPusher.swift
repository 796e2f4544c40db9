import CardRules
import Lanes
import PushWire
import Simulation
import Synchronization

/// A pusher that hands every push to simulated phones at once, and answers as APNs would for the token.
final class FleetPusher: Pusher {
    private let fleet: PhoneFleet
    private let clock: ManualClock
    private let pushes = Mutex<[OutgoingPush]>([])
    private let verdict = Mutex<Verdict?>(nil)

    init(fleet: PhoneFleet, clock: ManualClock) {
        self.fleet = fleet
        self.clock = clock
    }

    /// From now on every start is answered so and reaches no phone; `nil`: as the phones have it.
    func answerStarts(_ given: Verdict?) { verdict.withLock { $0 = given } }

    var sent: [OutgoingPush] { pushes.withLock { $0 } }

    func send(_ batch: [OutgoingPush]) -> [OutgoingPush] {
        pushes.withLock { $0 += batch }
        for push in batch { push.sink.take([PushAnswer(ticket: push.ticket, verdict: answer(push.request))]) }
        return []
    }

    private func answer(_ request: PushRequest) -> Verdict {
        if request.event == .start, let given = verdict.withLock({ $0 }) { return given }
        switch fleet.standing(of: request.address.token, at: request.address.gateway) {
        case .unknown: return .refused(Refusal(.known(.badDeviceToken), status: 400))
        case .dead(_, let since, _): return .refused(Refusal(.known(.unregistered), status: 410, deadSince: since))
        case .live:
            let push = ReceivedPush(
                apnsID: request.id.description, topic: request.topic, priority: request.priority.rawValue,
                expiration: request.expiration, collapseID: request.collapseID, payload: request.payload)
            fleet.deliver(
                GatewayDelivery(token: request.address.token, gateway: request.address.gateway, push: push),
                at: clock.now)
            return .accepted
        }
    }
}

/// The production system, one phone and a caller of sessions on one clock that only the test moves.
final class PhoneDay {
    let rig = Rig()
    let fleet: PhoneFleet
    let pusher: FleetPusher
    let device: DeviceID = "d1"
    /// What happens when, in order of time.
    var script: [(at: WallTime, act: (Supervisor) async throws -> Void)] = []
    /// Looked at after every step.
    var watch: (WallTime) -> Void = { _ in }

    init(quietHours: QuietHours? = nil, from start: WallTime) {
        rig.clock.set(start)
        var profile = PhoneProfile(
            handset: 0, bundleID: "com.example.lineup", osVersion: OSVersion(major: 18, minor: 0), user: "owner",
            device: "d1", openings: [PhoneProfile.Opening(at: start, seconds: 30)])
        profile.quietHours = quietHours
        profile.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 0, maxGames: 4))
        fleet = PhoneFleet(profiles: [profile], seed: 11)
        pusher = FleetPusher(fleet: fleet, clock: rig.clock)
    }

    var cards: [PhoneCard] { fleet.phone(0).cards }

    func alive(_ key: CardKey) -> [PhoneCard] { cards.filter { $0.key == key && $0.isAlive } }

    func at(_ time: WallTime, _ act: @escaping (Supervisor) async throws -> Void) {
        let place = script.firstIndex { $0.at > time } ?? script.endIndex
        script.insert((time, act), at: place)
    }

    /// Lets time pass for everybody until then; the system dies and comes back at each of `restarts`.
    func run(until end: WallTime, restarts: [WallTime] = []) async throws {
        for stop in restarts + [end] {
            let system = try await rig.system(pusher: pusher)
            try await rig.running(system) {
                await system.passTime()
                await system.settle()
                while rig.clock.now < stop {
                    let times = [await system.nextDeadline, fleet.nextTime, script.first?.at, stop].compactMap { $0 }
                    rig.clock.set(max(rig.clock.now, times.min() ?? stop))
                    while let next = script.first, next.at <= rig.clock.now {
                        script.removeFirst()
                        try await next.act(system)
                        await system.settle()
                    }
                    for report in fleet.run(until: rig.clock.now) {
                        _ = await system.answer(to: report.event(zone: { _ in nil }), for: report.device, app: Rig.app)
                        await system.settle()
                    }
                    await system.passTime()
                    await system.settle()
                    watch(rig.clock.now)
                }
                await system.flush()
            }
        }
    }
}
