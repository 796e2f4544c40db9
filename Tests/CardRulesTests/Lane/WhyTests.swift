import Testing

@testable import CardRules

/// Every withheld start is recorded with its rule and with what would change it (section 2).
@Suite struct WhyTests {
    private func why(_ bench: Bench) -> TimelineEntry? { bench.lane.decisions.last { $0.key == .slate } }

    /// A scene in which a start is withheld by a rule, and what has to be there as soon as that is over.
    private func scene(_ rule: Rule) -> Bench {
        var bench = Bench.following("g1", "g2")
        switch rule {
        case .s1: bench.patch { $0.user = .null }
        case .s2: bench.lane.kept.pushToStart?.address = nil
        case .s5:
            bench.patch { $0.quietHours = QuietHours(fromMinute: 1080, toMinute: 420).map { .value($0) } ?? .absent }
        case .s6: bench.lane.kept.ledger[.slate].sent = 1
        case .s8: bench.select(["g1", "g2"])
        case .s9: bench.lane.kept.ledger[.slate].isDismissed = true
        case .s10: bench.lane.kept.ledger[.slate].lastAcceptedAt = bench.now
        case .s13: bench.tuning.starts.cardsPerApp = 0
        case .s14: bench.lane.kept.ledger.unprovenNights = 2
        case .l10: bench.mayClaim = false
        default: break
        }
        bench.join("g1")
        return bench
    }

    @Test(arguments: [Rule.s1, .s2, .s5, .s6, .s8, .s9, .s10, .s13, .s14, .l10])
    func `section 2: a withheld start is recorded with its rule, why, and what would change it`(rule: Rule) {
        let bench = scene(rule)
        #expect(bench.starts == 0)
        #expect(bench.effects.withheld == [rule])
        #expect(bench.ledger.withheld == [NightLedger.Withheld(rule: rule, count: 1)])
        #expect(why(bench)?.rule == rule)
        #expect(why(bench)?.detail.isEmpty == false)
        #expect(why(bench)?.changesWhen?.isEmpty == false)
        let given: Set<Rule> = [.s6, .s9]
        #expect((bench.lane.kept.deferred == nil) == given.contains(rule))
    }

    @Test func `section 2: times in what would change it are the phone's own`() {
        var bench = Bench.following("g1", at: utc("2026-01-10T20:00"))
        bench.patch {
            $0.zone = ZoneSample.tokyo
            $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .absent
        }
        bench.join("g1")
        #expect(why(bench)?.changesWhen == "quiet hours are over, at 07:00")
    }

    @Test func `section 2: the first rule that fails is the one recorded`() {
        var bench = Bench.following("g1")
        bench.patch {
            $0.user = .null
            $0.quietHours = QuietHours(fromMinute: 1080, toMinute: 420).map { .value($0) } ?? .absent
        }
        bench.lane.kept.ledger[.slate].sent = 4
        bench.join("g1")
        #expect(bench.effects.withheld == [.s1])
        #expect(bench.patch { $0.user = .value("owner") }.withheld == [.s5])
        #expect(bench.patch { $0.quietHours = .null }.withheld == [.s6])
        #expect(bench.lane.kept.deferred == nil)
    }

    @Test func `section 2: an addition while a start waits for the gateway is recorded too`() {
        var bench = Bench.following("g1", "g2")
        bench.join("g1")
        bench.refuse(.tooManyRequests)
        #expect(why(bench)?.rule == .g5)
        bench.join("g2")
        #expect(bench.effects.withheld == [.g5])
        #expect(bench.ledger.withheld == [NightLedger.Withheld(rule: .g5, count: 2)])
        #expect(bench.pass(60).starts.map(\.content.games) == [["g1", "g2"]])
    }

    @Test func `section 2: the decision that stands for a card is the last one about it`() {
        var bench = Bench.following("g1", "g2")
        bench.join("g1")
        #expect(why(bench)?.rule == .s4)
        bench.verdict(.accepted)
        bench.join("g2")
        #expect(why(bench)?.rule == .s3)
        bench.cardToken()
        bench.report(.opened)
        #expect(why(bench)?.rule == .s3)
        bench.report(.dismissed)
        #expect(why(bench)?.rule == .l5)
        #expect(why(bench)?.changesWhen == "the next night has begun and a game is added, at 06:00")
        var gone = Bench.confirmed()
        gone.score("g1")
        gone.refuse(.unregistered, deadSince: gone.now)
        #expect(why(gone)?.rule == .l6)
    }

    @Test func `S7: a record that no longer owns its phone says so`() {
        var bench = Bench.following("g1")
        bench.apply(.superseded(by: "other", token: Bench.token))
        #expect(why(bench)?.rule == .s7)
    }

    @Test func `section 2: a timeline gives the same decisions, newest first`() {
        var bench = Bench.following("g1", "g2")
        var notes: [TimelineEntry] = []
        for step in 0..<6 {
            switch step {
            case 0: bench.join("g1")
            case 1: bench.verdict(.accepted)
            case 2: bench.cardToken()
            case 3: bench.join("g2")
            case 4: bench.report(.stale)
            default: bench.leave("g1")
            }
            notes += bench.effects.notes
        }
        #expect(TimelineEntry.lastDecisions(in: notes.reversed())[.slate] == why(bench))
    }

    @Test func `L9: a start whose verdict is unknown is not called accepted`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.verdict(.unknown)
        let notes = bench.pass(3600).notes
        #expect(notes.filter { $0.rule == .l9 }.isEmpty)
        #expect(notes.filter { $0.kind == .start && $0.rule == .l2 }.count == 1)
    }
}
