import CardRules
import Intake
import PushWire

/// Plays a slate through the rules for some phones: virtual time goes from one line, deadline or token to the next. Pure:
/// the same lines, phones and tuning give the same steps.
struct ReplayEngine {
    private let tuning: Tuning
    private let ticks: [SlateTick]
    private var slate: Slate
    private var lanes: [ReplayLane]
    private var renderer = PayloadRenderer(profile: ReplayLane.app)

    /// How long before the first line the phones' apps were last open, seconds: the slate's own life begins after A2 and
    /// S8 are over.
    private static let openedBeforeSeconds = 60.0
    /// How long after the last line it goes on, seconds, besides the window of S11.
    private static let afterglowSeconds = 900.0

    /// Plays the whole slate.
    ///
    /// - Parameter following: the games of phones that neither choose nor rank.
    static func nights(
        of ticks: [SlateTick], phones: [ReplayPhone], following: [GameID], tuning: Tuning
    ) -> [ReplayNight] {
        guard let first = ticks.first else { return [] }
        let begin = first.at.advanced(bySeconds: -openedBeforeSeconds)
        var engine = ReplayEngine(ticks, phones: phones, tuning: tuning, at: begin)
        engine.openApps(following: following, at: begin)
        engine.play()
        return engine.lanes.map { lane in
            ReplayNight(phone: lane.phone, steps: lane.steps, tally: ReplayTally(lane, tuning: tuning))
        }
    }

    private init(_ ticks: [SlateTick], phones: [ReplayPhone], tuning: Tuning, at begin: WallTime) {
        self.ticks = ticks
        self.tuning = tuning
        slate = Slate(tuning: tuning)
        lanes = phones.map { ReplayLane($0, at: begin, tuning: tuning) }
    }

    private mutating func openApps(following games: [GameID], at now: WallTime) {
        let surroundings = Surroundings(slate: slate.snapshot(at: now), tuning: tuning)
        for index in lanes.indices {
            let phone = lanes[index].phone
            lanes[index].take(.registered(phone.registration), at: now, in: surroundings, &renderer)
            guard let choice = phone.choice(following: games) else { continue }
            lanes[index].take(choice.event(at: now), at: now, in: surroundings, &renderer)
        }
    }

    private mutating func play() {
        guard let last = ticks.last else { return }
        let end = last.at.advanced(bySeconds: tuning.window.afterSeconds + ReplayEngine.afterglowSeconds)
        var next = 0
        var surroundings = Surroundings(slate: .empty, tuning: tuning)
        while let now = nextTime(tick: next < ticks.count ? ticks[next].at : nil), now <= end {
            var isNews = slate.nextChange.map { $0 <= now } ?? false
            while next < ticks.count, ticks[next].at <= now {
                for line in ticks[next].lines { _ = slate.apply(line, at: now) }
                next += 1
                isNews = true
            }
            if isNews {
                surroundings = Surroundings(slate: slate.snapshot(at: now), tuning: tuning)
                for index in lanes.indices { lanes[index].take(.tick, at: now, in: surroundings, &renderer) }
            }
            for index in lanes.indices { lanes[index].passTime(to: now, in: surroundings, &renderer) }
        }
    }

    private func nextTime(tick: WallTime?) -> WallTime? {
        var next = tick
        for time in lanes.map(\.nextTime) + [slate.nextChange] {
            if let time { next = min(next ?? time, time) }
        }
        return next
    }
}
