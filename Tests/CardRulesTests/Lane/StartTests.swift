import Testing

@testable import CardRules

@Suite struct StartTests {
    @Test func `S4: a game that joins the eligible set starts a card, once`() throws {
        var bench = Bench.following("g1")
        let order = try #require(bench.join("g1").starts.first)
        #expect(order.address == PushAddress(token: Bench.token, gateway: .production))
        #expect(order.content.games == ["g1"])
        #expect(bench.state == .starting)
        bench.verdict(.accepted)
        bench.score("g1")
        bench.pass(3600)
        #expect(bench.starts == 1)
    }

    @Test func `S1: nobody signed in starts nothing, and signing in starts what has joined meanwhile`() {
        var bench = Bench.following("g1")
        bench.patch { $0.user = .null }
        #expect(bench.join("g1").withheld == [.s1])
        #expect(bench.starts == 0)
        #expect(bench.patch { $0.user = .value("owner") }.starts.count == 1)
    }

    @Test func `S1: an addition that still waits for its start survives a sign-out`() {
        var bench = Bench()
        bench.register { $0.pushToStart = .absent }
        bench.select(["g1"])
        bench.pass(31)
        #expect(bench.join("g1").withheld == [.s2])
        bench.patch { $0.user = .null }
        bench.patch { $0.user = .value("owner") }
        bench.register { _ in }
        #expect(bench.apply(.owned(token: Bench.token, from: nil, handover: nil)).starts.count == 1)
    }

    @Test func `S2: without a token nothing starts, and a token that comes in time starts it`() {
        var bench = Bench()
        bench.register { $0.pushToStart = .absent }
        bench.select(["g1"])
        bench.pass(31)
        #expect(bench.join("g1").withheld == [.s2])
        #expect(bench.register { _ in }.starts.isEmpty)  // until it owns the phone
        #expect(bench.apply(.owned(token: Bench.token, from: nil, handover: nil)).starts.count == 1)
    }

    @Test(arguments: [(OSVersion(major: 17, minor: 1), 0), (OSVersion(major: 17, minor: 2), 1), (nil, 0)])
    func `S2: push-to-start needs iOS 17.2`(version: OSVersion?, starts: Int) {
        var bench = Bench()
        bench.register { $0.osVersion = version }
        bench.apply(.owned(token: Bench.token, from: nil, handover: nil))
        bench.select(["g1"])
        bench.pass(31)
        bench.join("g1")
        #expect(bench.starts == starts)
    }

    @Test func `S2: what waits for a token is dropped when its game leaves the window`() {
        var bench = Bench()
        bench.register { $0.pushToStart = .absent }
        bench.select(["g1"])
        bench.pass(31)
        bench.join("g1")
        bench.leave("g1")
        bench.register { _ in }
        bench.apply(.owned(token: Bench.token, from: nil, handover: nil))
        #expect(bench.starts == 0)
    }

    @Test(arguments: [Card.State.starting, .believed, .confirmed])
    func `S3: no start while a card stands under the key`(state: Card.State) {
        var bench = Bench.following("g1", "g2")
        bench.join("g1")
        if state != .starting { bench.verdict(.accepted) }
        if state == .confirmed { bench.cardToken() }
        #expect(bench.state == state)
        bench.pass(700)  // S10 is over
        #expect(bench.join("g2").withheld == [.s3])
        #expect(bench.starts == 1)
        #expect(bench.lane.kept.deferred == nil)
    }

    @Test func `S3: a start withheld while the card before it ends follows when that end is accepted`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.pass(600)
        #expect(bench.leave("g1").ends.count == 1)
        #expect(bench.join("g2").withheld == [.s3])
        #expect(bench.verdict(.accepted).starts.map(\.content.games) == [["g2"]])
    }

    @Test func `S4: a flip between sources never starts a card`() {
        var bench = Bench.confirmed()
        bench.pass(700)
        bench.leave("g1")
        bench.verdict(.accepted)
        #expect(bench.card == nil)
        for _ in 0..<5 {
            bench.join("g1")
            bench.pass(700)
            bench.leave("g1")
        }
        #expect(bench.starts == 1)
    }

    @Test func `S4: ticks, looks, a restart and a re-sent selection add nothing`() {
        var bench = Bench.confirmed()
        bench.pass(700)
        bench.report(.ended)
        #expect(bench.card == nil)
        bench.score("g1")
        bench.apply(.look)
        bench.restart()
        bench.select(["g1"])
        bench.pass(700)
        bench.score("g1")
        #expect(bench.starts == 1)
    }

    @Test func `S4: a game muted and unmuted does not join anew`() {
        var bench = Bench.confirmed()
        bench.select(["g1"], muted: ["g1"])
        bench.verdict(.accepted)
        bench.pass(700)
        bench.select(["g1"])
        bench.pass(700)
        #expect(bench.starts == 1)
    }

    @Test func `S5: what quiet hours withhold starts when they are over, with the games eligible then`() throws {
        var bench = Bench.following("g1", "g2")  // 20:00 UTC
        let hours = try #require(QuietHours(fromMinute: 19 * 60, toMinute: 22 * 60))
        bench.patch { $0.quietHours = .value(hours) }
        #expect(bench.join("g1").withheld == [.s5])
        bench.join("g2")
        bench.leave("g1")
        #expect(bench.pass(3600).starts.isEmpty)
        let starts = bench.pass(3600).starts
        #expect(starts.map(\.content.games) == [["g2"]])
    }

    @Test func `S6: a phone that has acknowledged nothing gets one start a night`() {
        var bench = Bench.believed("g1", "g2")
        bench.leave("g1")
        bench.pass(28_800)  // the card has expired, still tonight
        #expect(bench.card == nil)
        #expect(bench.join("g2").withheld == [.s6])
        bench.pass(700)
        #expect(bench.starts == 1)
    }

    @Test func `S6: a phone that acknowledges gets four starts a night, the fifth is given up`() {
        var bench = Bench.following("g1", "g2", "g3", "g4", "g5")
        let games: [GameID] = ["g1", "g2", "g3", "g4", "g5"]
        for (number, game) in games.enumerated() {
            bench.join(game)
            if number < 4 {
                bench.verdict(.accepted)
                bench.cardToken(ActivityID(unchecked: "a\(number)"))
                bench.leave(game)
                bench.verdict(.accepted)
                bench.pass(601)
            }
        }
        #expect(bench.starts == 4)
        #expect(bench.ledger.withheld == [.init(rule: .s6, count: 1)])
        #expect(bench.lane.kept.deferred == nil)
    }

    @Test func `S6: no more than the hard cap, of any key and cause`() {
        var bench = Bench.following("g1")
        bench.lane.kept.ledger[CardKey(unchecked: "sleep")].sent = 10
        #expect(bench.join("g1").withheld == [.s6])
    }

    @Test func `S6: a start leaves one unit of the hard cap for each session card that stands`() {
        var bench = Bench.following("g1")
        bench.lane.kept.ledger[CardKey(unchecked: "sleep")].sent = 9
        var session = Card(key: CardKey(unchecked: "sleep"), state: .confirmed, startedBy: .push)
        session.ageBegan = bench.now
        bench.lane.kept.cards.append(session)
        #expect(bench.join("g1").withheld == [.s6])
    }

    @Test func `S8: no start within thirty seconds of a selection, then it follows`() {
        var bench = Bench.registered()
        bench.join("g1")
        #expect(bench.select(["g1"]).withheld == [.s8])
        #expect(bench.pass(29.9).starts.isEmpty)
        #expect(bench.pass(0.1).starts.count == 1)
    }

    @Test func `S8: a card that the app starts itself meanwhile is the card`() {
        var bench = Bench.registered()
        bench.join("g1")
        bench.select(["g1"])
        bench.cardToken(startedBy: .app)
        bench.pass(700)
        #expect(bench.starts == 0)
        #expect(bench.state == .confirmed)
    }

    @Test func `S9: dismissed by its owner, no start under this key for the rest of the night, then as usual`() {
        var bench = Bench.confirmed("g1", "g2", "g3")
        bench.report(.dismissed)
        #expect(bench.card == nil)
        bench.pass(700)
        #expect(bench.join("g2").withheld == [.s9])
        #expect(bench.lane.kept.deferred == nil)
        bench.pass(12 * 3600)
        bench.select(["g1", "g2", "g3"])
        bench.pass(31)
        #expect(bench.starts == 1)
        #expect(bench.join("g3").starts.count == 1)
    }

    @Test func `S10: ten minutes lie between two accepted starts of one key`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.leave("g1")
        bench.verdict(.accepted)
        #expect(bench.join("g2").withheld == [.s10])
        #expect(bench.pass(530).starts.isEmpty)
        #expect(bench.pass(20).starts.count == 1)
    }

    @Test func `S10: the gap goes on over the turn of the night`() {
        var bench = Bench.following("g1", "g2", at: WallTime(seconds: Bench.evening.unixSeconds + 36_000 - 100))
        bench.join("g1")
        bench.verdict(.accepted)
        bench.cardToken()
        bench.leave("g1")
        bench.verdict(.accepted)
        bench.pass(120)
        #expect(bench.join("g2").withheld == [.s10])
    }

    @Test func `S11: only a game in the slate's window joins, and nothing else is asked`() {
        var bench = Bench.following("g1")
        bench.tick("g1") {
            $0.isInWindow = false
            $0.worth = 100
        }
        #expect(bench.starts == 0)
        bench.tick("g1") {
            $0.isInWindow = true
            $0.worth = 0
            $0.phase = .pre
        }
        #expect(bench.starts == 1)
    }

    @Test func `S12: a push is a start, an update or an end, and nothing else`() {
        #expect(PushEvent.allCases == [.start, .update, .end])
        let kinds: [PushOrder.Kind] = [.start(withSound: false), .update(staleDate: nil), .end(dismissalDate: 0)]
        for kind in kinds {
            switch kind {  // exhaustive: another kind does not compile
            case .start, .update, .end: break
            }
        }
        #expect(Set(PushPriority.allHandled.map(\.rawValue)) == [5, 10])
    }

    @Test func `S13: at most five cards of one app at a time`() {
        var bench = Bench.following("g1")
        for number in 0..<5 {
            var session = Card(key: CardKey(unchecked: "s\(number)"), state: .confirmed, startedBy: .app)
            session.ageBegan = bench.now
            bench.lane.kept.cards.append(session)
        }
        #expect(bench.join("g1").withheld == [.s13])
        bench.apply(.reported(CardReport(key: CardKey(unchecked: "s0"), kind: .ended, activity: "x", at: bench.now)))
        #expect(bench.starts == 1)
    }

    @Test func `S14: after two nights of unacknowledged starts none is spent until the app gives a sign of life`() {
        var bench = Bench.registered()
        bench.select(["g1", "g2", "g3", "g4"])
        bench.pass(31)
        bench.tuning.authority.selectionHours = 1000
        for night in 1...3 {
            let game = GameID(unchecked: "g\(night)")
            bench.join(game)
            if night < 3 { bench.verdict(.accepted) }
            bench.pass(600)
            #expect(bench.starts == min(night, 2))
            bench.leave(game)
            bench.pass(24 * 3600 - 600)
        }
        #expect(bench.ledger.unprovenNights == 2)
        bench.join("g4")
        #expect(bench.starts == 2)
        #expect(bench.register { _ in }.starts.count == 1)
    }

    @Test func `S14: one call of the app on the second night proves the phone`() {
        var bench = Bench.registered()
        bench.select(["g1", "g2", "g3"])
        bench.tuning.authority.selectionHours = 1000
        bench.pass(31)
        for night in 1...3 {
            let game = GameID(unchecked: "g\(night)")
            bench.join(game)
            bench.verdict(.accepted)
            if night == 2 { bench.patch { _ in } }
            bench.leave(game)
            bench.pass(24 * 3600)
        }
        #expect(bench.starts == 3)
    }

    @Test func `L10: no start is claimed while as many are unanswered as a node may have`() {
        var bench = Bench.following("g1")
        bench.mayClaim = false
        #expect(bench.join("g1").withheld == [.l10])
        bench.mayClaim = true
        #expect(bench.pass(1).starts.count == 1)
    }

    @Test func `T12: a start shows the strongest game first, then the others in the app's order, up to maxGames`() {
        var bench = Bench.following("g1", "g2", "g3", "g4", "g5", "g6")
        for number in 1...6 {
            bench.lay(GameID(unchecked: "g\(number)")) { $0.worth = number == 4 ? 90 : 50 }
        }
        let starts = bench.apply(.tick).starts
        #expect(starts.map(\.content.games) == [["g4", "g1", "g2", "g3"]])
    }

    @Test(arguments: [true, false])
    func `P1: a start has sound only where the device asks for it`(sound: Bool) {
        var bench = Bench.following("g1")
        bench.patch { $0.sound = sound }
        #expect(bench.join("g1").starts.map(\.kind) == [.start(withSound: sound)])
    }

    @Test func `P6: starts and ends go at priority 10`() {
        var bench = Bench.following("g1")
        #expect(bench.join("g1").starts.map(\.priority) == [.immediate])
        bench.verdict(.accepted)
        bench.cardToken()
        #expect(bench.leave("g1").ends.map(\.priority) == [.immediate])
    }

    @Test func `P10: a start expires ten minutes later`() {
        var bench = Bench.following("g1")
        #expect(bench.join("g1").starts.map(\.expiration) == [bench.now.unixSeconds + 600])
    }

    @Test func `fault 7: a phone out of reach collects one card, and one update when its token comes`() {
        var bench = Bench.believed("g1", "g2")
        bench.join("g2")
        for _ in 0..<60 {
            bench.pass(120)
            bench.score("g1")
        }
        #expect(bench.sent.count == 1)
        #expect(bench.cardToken().updates.count == 1)
        bench.verdict(.accepted)
        bench.pass(60)
        #expect(bench.sent.count == 2)
    }
}

extension PushPriority {
    fileprivate static let allHandled: [PushPriority] = [.conserving, .immediate]
}
