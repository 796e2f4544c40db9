import Testing

@testable import CardRules

@Suite struct LifeTests {
    @Test func `L5: the app reports ended: absent, and no new start for what stands`() {
        var bench = Bench.confirmed()
        bench.report(.ended)
        #expect(bench.card == nil)
        #expect(!bench.counts.isDismissed)
        bench.pass(3600)
        #expect(bench.starts == 1)
    }

    @Test func `L5: fault 18: a card swiped away does not come back that night`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.report(.dismissed)
        for _ in 0..<20 {
            bench.pass(60)
            bench.score("g1")
        }
        bench.join("g2")
        bench.tick("g1") { $0.moments = [.overtime] }
        bench.pass(3600)
        #expect(bench.starts == 1)
        #expect(bench.counts.isDismissed)
    }

    @Test func `L5: swiped away with the app closed, a card's token is dead first and the app tells later: S9 holds`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.pass(600)
        bench.score("g1")
        bench.refuse(.unregistered, deadSince: bench.now)
        #expect(bench.card == nil && !bench.counts.isDismissed)
        var ended = bench
        ended.report(.ended)
        #expect(!ended.counts.isDismissed && ended.ledger.gone.isEmpty)
        bench.restart()
        bench.report(.dismissed)
        #expect(bench.counts.isDismissed && bench.ledger.gone.isEmpty)
        bench.pass(3600)
        bench.join("g2")
        #expect(bench.starts == 1)

        // An end that finds the token dead: it may have been our own, repeated, that took the card away.
        var ending = Bench.confirmed()
        ending.leave("g1")
        ending.refuse(.unregistered, deadSince: ending.now)
        ending.report(.dismissed)
        #expect(!ending.counts.isDismissed)
    }

    @Test func `L5: what our own end dismisses was not dismissed by its owner`() {
        var late = Bench.confirmed()
        late.leave("g1")
        late.verdict(.accepted)
        late.report(.dismissed)
        #expect(!late.counts.isDismissed)
        var early = Bench.confirmed()
        early.leave("g1")
        early.report(.dismissed)  // before the verdict of the end
        #expect(!early.counts.isDismissed)
        #expect(early.card == nil)
        var older = Bench.confirmed()
        older.cardToken("a2", token: 2)
        older.report(.dismissed, "a1")
        #expect(!older.counts.isDismissed)
        #expect(older.card?.activity == "a2")
    }

    @Test(arguments: [CardReport.Kind.ended, .dismissed])
    func `L5: a late report about an earlier activity leaves the new card alone`(kind: CardReport.Kind) {
        var bench = Bench.confirmed("g1", "g2")
        bench.pass(600)
        bench.leave("g1")
        bench.verdict(.accepted)
        bench.join("g2")
        bench.verdict(.accepted)
        bench.report(kind, "a1")
        #expect(bench.state == .believed)
        #expect(!bench.counts.isDismissed)
    }

    @Test(arguments: [CardReport.Kind.opened, .stale])
    func `L5: opened and stale leave a card where it is`(kind: CardReport.Kind) {
        var bench = Bench.confirmed()
        bench.report(kind)
        #expect(bench.state == .confirmed)
        #expect(bench.ledger.hasSignOfLife)
    }

    @Test func `L9: a start accepted and not acknowledged in ten minutes is told once, and not resent`() {
        var bench = Bench.believed()
        #expect(bench.pass(599.9).notes.filter { $0.rule == .l9 }.isEmpty)
        #expect(bench.pass(0.1).notes.filter { $0.rule == .l9 }.count == 1)
        #expect(bench.pass(3600).notes.filter { $0.rule == .l9 }.isEmpty)
        #expect(bench.restart().notes.filter { $0.rule == .l9 }.isEmpty)
        #expect(bench.starts == 1)
        #expect(bench.state == .believed)
    }

    @Test func `L4: a token confirms a believed card, and counts as acknowledgement`() {
        var bench = Bench.believed()
        #expect(bench.counts.acknowledged == 0)
        bench.cardToken()
        #expect(bench.state == .confirmed)
        #expect(bench.counts.acknowledged == 1)
        bench.cardToken(token: 2)
        #expect(bench.counts.acknowledged == 1)
    }

    @Test func `L7: an expired card that nobody confirmed is absent`() {
        var bench = Bench.believed()
        bench.pass(28_799)
        #expect(bench.state == .believed)
        bench.pass(1)
        #expect(bench.card == nil)
    }

    @Test func `L10: a card whose end was owed while its start was in flight keeps the start's age over a restart`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        let claimed = bench.now
        bench.leave("g1")
        bench.restart()
        #expect(bench.state == .ending)
        bench.pass(1800)
        #expect(bench.cardToken().ends.count == 1)
        #expect(bench.card?.ageBegan == claimed)
    }

    /// Where a card may stand when an event comes.
    enum Scene: String, CaseIterable {
        case absent, starting, retrying, believed, neverAdopted, confirmed, updating, ending, endingUnconfirmed
        case signedOut, superseded, removed, expired, quiet

        var bench: Bench {
            var bench: Bench
            switch self {
            case .absent, .starting, .retrying, .superseded: bench = .following("g1", "g2")
            case .believed, .neverAdopted, .endingUnconfirmed: bench = .believed("g1", "g2")
            default: bench = .confirmed("g1", "g2")
            }
            switch self {
            case .absent, .believed, .confirmed: break
            case .starting: bench.join("g1")
            case .retrying:
                bench.join("g1")
                bench.refuse(.badDeviceToken)
            case .neverAdopted: bench.pass(700)
            case .updating: bench.score("g1")
            case .ending, .endingUnconfirmed: bench.leave("g1")
            case .signedOut: bench.patch { $0.user = .null }
            case .superseded: bench.apply(.superseded(by: "newer", token: Bench.token))
            case .removed: bench.apply(.removed)
            case .expired: bench.now = bench.now.advanced(bySeconds: 30_000)
            case .quiet:
                bench.patch { $0.quietHours = QuietHours(fromMinute: 0, toMinute: 1439).map { .value($0) } ?? .null }
            }
            return bench
        }
    }

    static let verdicts: [Verdict] =
        [.accepted, .unknown, .notSent, .refused(Refusal(.unlisted("NewWord"), status: 418))]
        + RefusalReason.Known.allCases.map {
            .refused(Refusal(.known($0), status: 400, deadSince: Bench.evening.advanced(bySeconds: 100_000)))
        }

    static func events(_ bench: Bench) -> [LaneEvent] {
        let number = bench.sent.last?.number ?? PushNumber(1)
        let now = bench.now
        var patch = DevicePatch()
        patch.pushToStart = .value(PushAddress(token: [9], gateway: .sandbox))
        var other = DevicePatch()
        other.user = .value("other")
        func token(_ activity: ActivityID, _ byte: UInt8, _ began: WallTime?) -> LaneEvent {
            .cardToken(
                CardToken(
                    key: .slate, activity: activity, address: PushAddress(token: [byte], gateway: .production),
                    startedBy: .push, began: began))
        }
        var card = Card(key: .slate, state: .confirmed, startedBy: .push)
        card.activity = "a7"
        card.updateAddress = PushAddress(token: [7], gateway: .production)
        card.ageBegan = now.advanced(bySeconds: -100)
        let handover = Handover(
            ledger: bench.ledger, cards: [card], members: ["g1"], endedActivities: ["a8"])
        return [
            .tick, .look, .registered(patch), .registered(other), .removed,
            .selected(games: ["g2"], pinned: "g2", muted: ["g1"], syncedAt: now),
            .selected(games: [], pinned: nil, muted: [], syncedAt: now),
            .selected(games: ["g1"], pinned: nil, muted: [], syncedAt: now.advanced(bySeconds: -9999)),
            token("a1", 1, nil), token("a1", 2, nil), token("a2", 3, now), token("a0", 4, .distantPast),
            .superseded(by: "newer", token: Bench.token), .superseded(by: "newer", token: [5]),
            .owned(token: Bench.token, from: nil, handover: nil),
            .owned(token: Bench.token, from: "older", handover: handover), .handoverTaken(by: "newer"),
        ]
            + CardReport.Kind.allCases.flatMap { kind in
                ["a1", "a9"].map { .reported(CardReport(key: .slate, kind: kind, activity: $0, at: now)) }
            } + verdicts.map { .verdict(number, $0) }
    }

    @Test(arguments: Scene.allCases)
    func `L7, S3: no event in any state starts beside a card, or sends to one that is not there`(scene: Scene) {
        let bench = scene.bench
        for (index, event) in Self.events(bench).enumerated() {
            var trial = bench
            trial.lay("g2")
            let before = trial.card
            let known = Set(trial.lane.kept.owedEnds.map(\.address.token) + [before?.updateAddress?.token ?? []])
            let effects = trial.apply(event)
            let what = "\(scene), event \(index): \(event)"
            for order in effects.starts {
                // A second try of a start whose card stands is the same start on the other gateway (G2).
                #expect(before == nil || trial.card?.state == .starting, "\(what)")
                #expect(trial.counts.sent <= 4 && !order.content.games.isEmpty, "\(what)")
            }
            for order in effects.updates {
                #expect(trial.card?.updateAddress?.token == order.address.token, "\(what)")
                #expect(!order.content.games.isEmpty, "\(what)")
            }
            for order in effects.ends {
                let owed = trial.lane.kept.owedEnds.map(\.address.token) + [trial.card?.updateAddress?.token ?? []]
                #expect(owed.contains(order.address.token) || known.contains(order.address.token), "\(what)")
            }
            if scene == .expired { #expect(effects.orders.allSatisfy { $0.address.token != [1] }, "\(what)") }
            if let look = trial.lane.nextLook { #expect(look > trial.now, "\(what)") }
            // What is asked for comes to rest.
            var looks = 0
            while let look = trial.lane.nextLook, look < trial.now.advanced(bySeconds: 3600), looks < 1000 {
                trial.now = look
                trial.apply(.look)
                looks += 1
            }
            #expect(looks < 1000, "\(what)")
        }
    }
}
