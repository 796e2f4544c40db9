import CardRules
import Intake
import Testing

@testable import lanekeeper

@Suite struct ReplayEngineTests {
    private typealias Samples = ReplaySamples

    /// A step without its scores and bytes: seconds, kind, rule, who gave way to whom, priority, detail.
    private func told(_ night: ReplayNight) -> [String] {
        night.steps.map { step in
            let seconds = step.at.seconds(since: Samples.begin)
            let change = step.change.map { "\($0.from?.game.text ?? "nothing")>\($0.to.game)" }
            let words = [step.rule?.rawValue, change, step.push.map { "p\($0.priority.rawValue)" }, step.detail]
            return (["\(seconds)", step.kind.rawValue] + words.compactMap { $0 }.filter { !$0.isEmpty })
                .joined(separator: " ")
        }
    }

    @Test func `replay: an evening of two games gives exactly these steps`() throws {
        let night = try #require(Samples.night())
        #expect(
            told(night) == [
                "300.0 front T12 nothing>a", "300.0 start S4 p10 a game was added", "600.0 update U1 p5",
                "650.0 withheld S3 a card stands under this key", "650.0 update U1 p5", "700.0 update U1 p5",
                "720.0 update U1 p5", "800.0 front T3 a>b", "800.0 update P6 p10 another front",
                "810.0 front T6 b>a", "810.0 update P6 p10 another front", "900.0 update P6 p10 a game ended",
                "1110.0 update U1 p5", "1200.0 end E1 p10 nothing qualifies any more",
            ])
        let changes = night.steps.compactMap(\.change)
        #expect(changes.map(\.to.effective) == [40, 60, 45])
        #expect(changes.map { $0.from?.effective } == [nil, 45, 10])
        #expect(
            night.steps.filter { $0.push != nil }.allSatisfy {
                $0.push?.payload.starts(with: Array("{\"aps\":{".utf8)) == true
            })
    }

    @Test func `replay: totals and forecast count the steps`() throws {
        let tally = try #require(Samples.night()).tally
        #expect(tally.frontChanges == [.t3: 1, .t6: 1] && tally.frontChangeCount == 2 && tally.firstFronts == 1)
        #expect(tally.starts == 1 && tally.ends == 1 && tally.withheld == [.s3: 1])
        #expect(tally.urgentUpdates == 3 && tally.conservingUpdates == 5 && tally.pushes == 10)
        #expect(tally.bytes > 10 * 100 && tally.largestBytes < 4096 && !tally.isCardStanding)
        let forecast = tally.forecast
        #expect(forecast.starts == 1 && forecast.startsUnacknowledged == 1)
        #expect(forecast.startsAcknowledged == 4 && forecast.startsHardCap == 10)
        #expect(forecast.urgent.count == 3 && forecast.urgentAllowance == 12 && forecast.conserved == 0)
        #expect(forecast.urgent.from == Samples.begin.advanced(bySeconds: 800) && forecast.pushes.count == 10)
    }

    @Test func `P6: what the hour's allowance leaves no room for goes with priority 5, and is counted`() throws {
        var tuning = Samples.tuning
        tuning.updates.urgentPerHour = 1
        let night = try #require(Samples.night(tuning: tuning))
        #expect(
            told(night).filter { $0.contains(" P6 ") } == [
                "800.0 update P6 p10 another front",
                "815.0 update P6 p5 another front, but the hour's priority 10 is used up",
                "900.0 update P6 p5 a game ended, but the hour's priority 10 is used up",
            ])
        #expect(night.tally.forecast.conserved == 2 && night.tally.forecast.urgent.count == 1)
        var phone = ReplayPhone()
        phone.patch.frequentUpdates = true
        #expect(try #require(Samples.night(phone, tuning: tuning)).tally.forecast.urgentAllowance == 200)
        #expect(try #require(Samples.night(phone, tuning: tuning)).tally.urgentUpdates == 3)
    }

    @Test func `T1: taste counts, and without a selection it says who joins`() throws {
        var phone = ReplayPhone()
        phone.patch.personalisation = .readable(
            Taste(teams: ["Dot": 1], leagues: [:], minimumWorth: 50, maxGames: 4))
        let night = try #require(Samples.night(phone))
        #expect(told(night).first == "300.0 front T12 nothing>b")
        let first = try #require(night.steps.first?.change?.to)
        #expect(first == FrontScore(game: Samples.b, worth: 40, taste: 15, lift: 0) && first.effective == 55)
        #expect(night.steps.first { $0.kind == .start }?.push?.games == [Samples.b])
    }

    @Test func `T2: a moment lifts its game, and the update says which began`() throws {
        let phones = [
            ReplayPhone(),
            {
                var phone = ReplayPhone()
                phone.patch.spoilerFree = true
                return phone
            }(),
        ]
        let lines = [
            Samples.game(Samples.a, "Ann", "Bea", at: 0, startsAt: 600),
            Samples.game(Samples.b, "Cy", "Dot", at: 0, startsAt: 600, sport: .basketball),
            Samples.score(Samples.a, .live, at: 600),
            Samples.score(Samples.b, .live, at: 600, home: 50, away: 51, period: 2),
            Samples.score(Samples.b, .live, at: 700, home: 91, away: 91, period: 5),
        ]
        let nights = ReplayEngine.nights(
            of: SlateTick.ticks(of: lines), phones: phones, following: [Samples.a, Samples.b],
            tuning: Samples.tuning)
        let change = try #require(nights[0].steps.last { $0.kind == .front }?.change)
        #expect(change.to.game == Samples.b && change.to.lift == 25)
        #expect(nights[1].steps.last { $0.kind == .front }?.change == change)
        // The game is in front by then: what began is told of the games that are shown.
        var tuning = Samples.tuning
        tuning.takeover.marginPoints = 100
        let still = ReplayEngine.nights(
            of: SlateTick.ticks(of: lines), phones: phones, following: [Samples.a, Samples.b], tuning: tuning)
        #expect(still[0].steps.contains { $0.rule == .p6 && $0.detail == "a moment began: overtime" })
        #expect(still[1].steps.contains { $0.rule == .p6 && $0.detail == "a moment began" })
        #expect(!still[1].steps.contains { $0.detail.contains("overtime") })
    }

    @Test func `P2: what a spoiler-free phone is sent shows no score`() throws {
        var phone = ReplayPhone()
        func shows(_ text: String, _ phone: ReplayPhone) throws -> Bool {
            try #require(Samples.night(phone)).steps.contains { step in
                step.push.map { String(decoding: $0.payload, as: UTF8.self).contains(text) } ?? false
            }
        }
        #expect(try shows("Score\"", phone))
        phone.patch.spoilerFree = true
        #expect(try !shows("Score\"", phone) && shows("\"spoilerFree\":true", phone))
    }

    private enum Obstacle: CaseIterable { case signedOut, noToken, oldSystem, quiet }

    @Test(arguments: Obstacle.allCases)
    private func `section 2: what forbids a start is the phone's, and the rule is named`(obstacle: Obstacle) throws {
        var phone = ReplayPhone()
        let rule: Rule
        switch obstacle {
        case .signedOut: (rule, phone.patch.user) = (.s1, .null)
        case .noToken: (rule, phone.patch.pushToStart) = (.s2, .null)
        case .oldSystem: (rule, phone.patch.osVersion) = (.s2, OSVersion(major: 17, minor: 1))
        case .quiet:
            rule = .s5
            phone.patch.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .absent
        }
        let night = try #require(Samples.night(phone))
        #expect(night.tally.starts == 0 && night.tally.pushes == 0)
        #expect(night.steps.allSatisfy { $0.kind == .withheld && $0.rule == rule } && !night.steps.isEmpty)
    }

    @Test func `S5: when quiet hours are over the card starts, in the phone's own zone`() throws {
        var phone = ReplayPhone()
        phone.patch.zone = Zone(name: "GMT+1", fixedOffsetSeconds: 3600)
        // 23:13:20 there when the slate begins; quiet until 23:25, 700 s later.
        phone.patch.quietHours = QuietHours(fromMinute: 22 * 60, toMinute: 23 * 60 + 25).map { .value($0) } ?? .absent
        let night = try #require(Samples.night(phone))
        #expect(
            told(night).prefix(4) == [
                "300.0 withheld S5 quiet hours", "650.0 withheld S5 quiet hours", "700.0 front T12 nothing>a",
                "700.0 start S4 p10 a game was added",
            ])
    }

    @Test func `A1: a phone with a selection of its own gets nothing else, a pinned game in front`() throws {
        var phone = ReplayPhone()
        phone.selection = SelectionBody(games: [Samples.a, Samples.b], pinned: Samples.b)
        let night = try #require(Samples.night(phone))
        #expect(told(night).first == "300.0 front T12 nothing>b" && night.tally.withheldCount == 0)
        #expect(night.tally.frontChanges == [.t6: 1])
    }

    @Test func `replay: several phones in one pass are what each is alone`() throws {
        var quiet = ReplayPhone(name: "quiet")
        quiet.patch.spoilerFree = true
        let both = ReplayEngine.nights(
            of: SlateTick.ticks(of: Samples.evening), phones: [ReplayPhone(), quiet],
            following: [Samples.a, Samples.b, Samples.c], tuning: Samples.tuning)
        #expect(both.map(\.steps) == [try #require(Samples.night()).steps, try #require(Samples.night(quiet)).steps])
    }

    @Test func `R1: a reissue is a start with its own rule, and the card it replaces is ended`() throws {
        var tuning = Samples.tuning
        tuning.reissue.afterSeconds = 400
        tuning.reissue.spreadSeconds = 0
        let night = try #require(Samples.night(tuning: tuning))
        let lives = night.steps.filter { $0.kind == .start || $0.kind == .end }
        #expect(lives.prefix(3).map(\.kind) == [.start, .start, .end])
        #expect(lives.prefix(2).map(\.rule) == [.s4, .r1] && lives[2].rule != .e1 && lives[2].rule != nil)
        #expect(lives[1].at == Samples.begin.advanced(bySeconds: 700))
        #expect(lives.last?.rule == .e1 && !night.tally.isCardStanding)
    }

    @Test func `replay: a slate that breaks off leaves the card standing, and says so`() throws {
        let night = try #require(Samples.night(of: Array(Samples.evening.dropLast())))
        #expect(night.tally.isCardStanding && night.tally.ends == 0)
        #expect(ReplayEngine.nights(of: [], phones: [ReplayPhone()], following: [], tuning: Tuning()).isEmpty)
    }

    @Test func `replay: the busiest hour is any sixty minutes, not one of the clock`() {
        func times(_ minutes: [Double]) -> [WallTime] { minutes.map { Samples.begin.advanced(bySeconds: $0 * 60) } }
        let hour = BusiestHour(of: times([0, 50, 55, 100, 109.9, 110, 300]))
        #expect(hour.count == 4 && hour.from == Samples.begin.advanced(bySeconds: 3000))
        #expect(BusiestHour(of: []).from == nil)
    }

    // MARK: - Two tunings

    @Test func `replay: two tunings differ in the fronts that only one of them has`() throws {
        var stubborn = Samples.tuning
        stubborn.takeover.marginPoints = 20
        let (first, second) = (try #require(Samples.night()), try #require(Samples.night(tuning: stubborn)))
        let comparison = ReplayComparison(first, second)
        #expect(comparison.onlyFirst.map(\.rule) == [.t3, .t6] && comparison.onlySecond.isEmpty)
        #expect(comparison.sameFronts == 1)
        let reverse = ReplayComparison(second, first)
        #expect(reverse.onlySecond == comparison.onlyFirst && reverse.onlyFirst.isEmpty)
        #expect(reverse.differences.map(\.which) == [.second, .second])
    }

    @Test func `T4: a longer wait moves a change, and both are told in order of time`() throws {
        var slow = Samples.tuning
        slow.takeover.settleSeconds = 505
        let comparison = ReplayComparison(
            try #require(Samples.night()), try #require(Samples.night(tuning: slow)))
        let told = comparison.differences.map { "\($0.which) \($0.step.at.seconds(since: Samples.begin))" }
        #expect(told == ["first 800.0", "second 805.0"])
        #expect(comparison.sameFronts == 2)
    }

    @Test func `replay: the same tuning twice differs in nothing`() throws {
        let night = try #require(Samples.night())
        let comparison = ReplayComparison(night, night)
        #expect(comparison.differences.isEmpty && comparison.sameFronts == 3)
    }
}
