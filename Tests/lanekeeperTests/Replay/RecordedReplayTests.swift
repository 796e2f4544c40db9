import CardRules
import Testing

@testable import lanekeeper

/// Whole recorded evenings.
@Suite(.enabled(if: RecordedSlates.arePresent, Comment(rawValue: RecordedSlates.comment)))
struct RecordedReplayTests {
    private func nights(_ file: String, _ phones: [ReplayPhone], tuning: Tuning = Tuning()) throws -> [ReplayNight] {
        let slate = try SlateFile(path: RecordedSlates.path(file))
        var seen: Set<GameID> = []
        let games = slate.lines.map(\.game).filter { seen.insert($0).inserted }
        return ReplayEngine.nights(
            of: SlateTick.ticks(of: slate.lines), phones: phones, following: games, tuning: tuning)
    }

    @Test(arguments: ["nba-2015-12-23.rows.ndjson", "nhl-2013-01-29.rows.ndjson", "soccer-2018-06-25.patch.ndjson"])
    func `replay: a recorded evening keeps the caps, flickers never and leaves nothing standing`(file: String) throws {
        let tuning = Tuning()
        let night = try #require(try nights(file, [ReplayPhone()]).first)
        let tally = night.tally
        #expect(tally.starts >= 1 && tally.starts <= tuning.starts.acknowledged && !tally.isCardStanding)
        #expect(tally.ends == tally.starts && tally.frontChangeCount > 0)
        #expect(tally.forecast.urgent.count <= tuning.updates.urgentPerHour && tally.largestBytes <= 4096)
        // T8: never more than four changes in any minute, T6 aside; T3 and T11 by their own terms.
        let changes = night.steps.filter { $0.change?.from != nil && $0.rule != .t6 }
        for (index, step) in changes.enumerated().dropFirst(4) {
            #expect(step.at.seconds(since: changes[index - 4].at) >= 60)
        }
        for step in changes where step.rule == .t3 {
            let change = try #require(step.change)
            let from = try #require(change.from)
            #expect(change.to.effective >= from.effective + tuning.takeover.marginPoints)
        }
        // U3: priority 5 at most every 15 s.
        let pushes = night.steps.filter { $0.push != nil }
        for (before, step) in zip(pushes, pushes.dropFirst())
        where step.kind == .update && step.push?.priority == .conserving {
            #expect(step.at.seconds(since: before.at) >= tuning.updates.gapSeconds)
        }
        #expect(zip(night.steps, night.steps.dropFirst()).allSatisfy { $0.at <= $1.at })
    }

    @Test func `replay: a whole night with a stricter margin changes fronts less often`() throws {
        var strict = Tuning()
        strict.takeover.marginPoints = 30
        let file = "nba-2015-12-23.rows.ndjson"
        let (loose, tight) = (try nights(file, [ReplayPhone()]), try nights(file, [ReplayPhone()], tuning: strict))
        #expect(tight[0].tally.frontChangeCount < loose[0].tally.frontChangeCount)
        #expect(!ReplayComparison(loose[0], tight[0]).differences.isEmpty)
    }

    @Test func `P2: on a spoiler-free phone fewer things change, and the fronts are the same`() throws {
        var hidden = ReplayPhone(name: "hidden")
        hidden.patch.spoilerFree = true
        let both = try nights("nba-2015-12-23.rows.ndjson", [ReplayPhone(), hidden])
        #expect(both[1].tally.bytes < both[0].tally.bytes)
        #expect(ReplayComparison(both[0], both[1]).differences.isEmpty)
        #expect(
            !both[1].steps.contains { step in
                step.push.map { String(decoding: $0.payload, as: UTF8.self).contains("Score\"") } ?? false
            })
    }
}
