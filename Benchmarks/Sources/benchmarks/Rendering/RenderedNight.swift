import CardRules
import Intake
import Measuring
import PushWire
import Simulation

/// A whole night through the rules and one renderer: which payloads are made, and how many pushes share each. The phones
/// report their tokens at once; every push is accepted.
struct RenderedNight {
    struct Outcome {
        let secondsATick: Int
        var lines = 0
        var ticks = 0
        var pushes = 0
        /// Arrangements of games that somebody's card has, tick by tick.
        var contents = 0
        /// Distinct payloads, tick by tick, and how many were made: more where the renderer had forgotten some.
        var payloads = 0
        var renders = 0
        var mostPayloads = 0
        var bytes = 0
        var cpuSeconds = 0.0
    }

    let phones: Int
    let secondsATick: Int
    let seed: UInt64

    private struct Tally {
        var renderer = PayloadRenderer(profile: LaneSystem.profile)
        /// Of one snapshot.
        var contents: Set<SlateArrangement> = []
        var payloads: Set<Int> = []
        /// A payload that is shared is one array; kept here, so that none other comes to lie at its place.
        var places: Set<UnsafeRawPointer> = []
        var kept: [[UInt8]] = []
        var outcome: Outcome

        mutating func render(_ order: PushOrder, _ snapshot: SlateSnapshot) {
            let id = ApnsID(randomHigh: 1, randomLow: 2)
            guard let request = renderer.request(for: order, snapshot: snapshot, id: id) else { return }
            outcome.pushes += 1
            outcome.bytes += request.payload.count
            if case .slate(let arrangement) = order.content { contents.insert(arrangement) }
            guard let place = request.payload.withUnsafeBytes({ $0.baseAddress }), places.insert(place).inserted else {
                return
            }
            kept.append(request.payload)
            payloads.insert(request.payload.hashValue)
        }

        mutating func endTick() {
            outcome.contents += contents.count
            outcome.payloads += payloads.count
            outcome.renders += places.count
            outcome.mostPayloads = max(outcome.mostPayloads, payloads.count)
            contents.removeAll(keepingCapacity: true)
            payloads.removeAll(keepingCapacity: true)
            places.removeAll(keepingCapacity: true)
            kept.removeAll(keepingCapacity: true)
        }
    }

    func run() -> Outcome {
        let zones = ZoneDirectory()
        let lines = NightGenerator(seed: seed, announcedAt: MadeUpSlate.evening, games: MadeUpSlate.count).lines()
        var ids: [GameID] = []
        for line in lines { if case .game(let patch) = line, !ids.contains(patch.game) { ids.append(patch.game) } }
        let made = MadeUpPhones(seed: seed, games: ids, zone: { zones.zone(named: $0) ?? .utc })
        var states = (0..<phones).map { number in
            LaneState(
                restoring: made.freshRecord(number), zone: zones.zone(named: made.zoneName(number)) ?? .utc,
                timestampFloor: 0)
        }
        var slate = Slate(tuning: Tuning())
        var tally = Tally(outcome: Outcome(secondsATick: secondsATick, lines: lines.count))
        let before = Usage.now
        var next = 0
        var now = MadeUpSlate.evening
        while next < lines.count {
            now = now.advanced(bySeconds: Double(secondsATick))
            while next < lines.count, lines[next].at <= now {
                _ = slate.apply(lines[next], at: now)
                next += 1
            }
            let snapshot = slate.snapshot(at: now)
            let surroundings = Surroundings(slate: snapshot, tuning: Tuning())
            for phone in states.indices {
                take(.tick, phone, &states[phone], surroundings, at: now, &tally)
            }
            tally.outcome.ticks += 1
            tally.endTick()
        }
        tally.outcome.cpuSeconds = (Usage.now - before).cpuSeconds
        return tally.outcome
    }

    private func take(
        _ event: LaneEvent, _ phone: Int, _ state: inout LaneState, _ surroundings: Surroundings, at now: WallTime,
        _ tally: inout Tally
    ) {
        for effect in state.apply(event, at: now, in: surroundings) {
            guard case .send(let order) = effect else { continue }
            tally.render(order, surroundings.slate)
            take(.verdict(order.number, .accepted), phone, &state, surroundings, at: now, &tally)
            guard order.event == .start else { continue }
            let token = (0..<8).map { UInt8(truncatingIfNeeded: phone >> (8 * $0)) }
            let report = CardToken(
                key: order.key, activity: ActivityID(unchecked: "a\(phone)-\(order.number.value)"),
                address: PushAddress(token: token, gateway: .production), startedBy: .push, began: now)
            take(.cardToken(report), phone, &state, surroundings, at: now, &tally)
        }
    }
}
