import CardRules
import Testing

@testable import lanekeeper

/// What stands on the screen, row by row.
@Suite struct LiveLayoutTests {
    private static let midnight = WallTime(seconds: 1_794_700_800 - 1_794_700_800 % 86_400)

    private static func at(_ hours: Double) -> WallTime { midnight.advanced(bySeconds: hours * 3600) }

    private static let boston = GameFace(
        away: "New York", home: "Boston", awayScore: 2, homeScore: 3, time: "P3 04:12",
        moments: ["close finish", "comeback"])
    private static let utah = GameFace(
        away: "Denver", home: "Salt Lake City", awayScore: 88, homeScore: 90, time: "Q4 02:31")
    private static let oakland = GameFace(away: "Seattle", home: "Oakland", time: "03:30")
    private static let hidden = GameFace(away: "New York", home: "Boston", time: "live")

    private static func night() -> ViewState {
        var state = ViewState(now: at(2.5), begins: at(0), end: at(5), speed: "60x")
        state.games = [
            ViewState.RankedRow(game: boston, worth: 91, isInWindow: true, cardsInFront: 57),
            ViewState.RankedRow(game: utah, worth: 78, isInWindow: true, cardsInFront: 4),
            ViewState.RankedRow(game: oakland, worth: 40, isInWindow: false, cardsInFront: 0),
        ]
        state.rates.pushes = 12.34
        state.rates.verdicts = 9.96
        (state.rates.starts, state.rates.updates, state.rates.ends) = (61, 1204, 3)
        (state.rates.refused, state.rates.unknown, state.rates.cards) = (2, 1, 61)
        state.phones = [
            PhoneFace(name: "d1", isSpoilerFree: false, card: [boston, utah, oakland]),
            PhoneFace(name: "d7", isSpoilerFree: true, card: [hidden]),
            PhoneFace(name: "d3", isSpoilerFree: false, why: "S6: one start tonight, and it was not acknowledged"),
        ]
        (state.picked, state.phonesInAll) = (1, 42)
        state.takeovers = [
            ViewState.Happening(
                at: at(2.25), phone: "d12", rule: "T11",
                text: "New York at Boston gives way to Denver at Salt Lake City"),
            ViewState.Happening(
                at: at(2.4), phone: "d1", rule: "T3", text: "Denver at Salt Lake City gives way to New York at Boston"),
        ]
        return state
    }

    private func screen(_ state: ViewState, _ columns: Int = 80, _ rows: Int = 24, _ glyphs: Glyphs = .unicode)
        -> String
    {
        let lines = LiveLayout(size: ScreenSize(columns: columns, rows: rows), glyphs: glyphs).lines(state)
        #expect(lines.count <= rows && lines.allSatisfy { $0.columns == columns })
        return lines.map { line in
            String(line.text.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    @Test func `an evening of three games on 80 x 24`() {
        #expect(
            screen(Self.night()) == """
                Lanekeeper  02:30:00 UTC  60x  ████████████░░░░░░░░░░░░  50 %, 2 h 30 min to go
                pushes 12/s  verdicts 10/s  start 61 update 1204 end 3  refused 2 unknown 1
                Ranking                              time      worth  front  moments
                 1 New York 2 at Boston 3            P3 04:12     91     57  close finish, comeb
                 2 Denver 88 at Salt Lake City 90    Q4 02:31     78      4
                 3 Seattle at Oakland                03:30        40      0
                ── Phones 1 to 3 of 42, 61 cards stand ─────────────────────────────────────────
                ┌─ 1 d1 ────────────────┐ ┌─[2 d7] spoiler-free ──┐ ┌─ 3 d3 ────────────────┐
                │ ▶ New York          2 │ │ ▶ New York            │ │ no card               │
                │   Boston            3 │ │   Boston              │ │ S6: one start         │
                │   P3 04:12  close fi… │ │   live                │ │ tonight, and it was   │
                │ Denv… 88 Salt … 90 Q4 │ │                       │ │ not acknowledged      │
                │ Seattle Oakland 03:30 │ │                       │ │                       │
                │                       │ │                       │ │                       │
                └───────────────────────┘ └───────────────────────┘ └───────────────────────┘
                ── Takeovers ───────────────────────────────────────────────────────────────────
                02:24:00  d1       T3  Denver at Salt Lake City gives way to New York at Boston
                02:15:00  d12      T11 New York at Boston gives way to Denver at Salt Lake City





                j k 1-9 pick  d decisions  x kill lane  m moment  p pause  ? help  q quit
                """)
    }

    @Test func `P2: what a spoiler-free phone shows has neither score nor clock nor moment`() {
        var game = SlateContent.Game(
            id: GameID(unchecked: "g"), sport: "hockey", league: nil, home: "Boston", away: "New York", phase: .live,
            period: 3, clock: "04:12", homeScore: 3, awayScore: 2, moment: .closeFinish)
        #expect(GameFace(game, spoilerFree: true) == Self.hidden)
        #expect(
            GameFace(game, spoilerFree: false)
                == GameFace(
                    away: "New York", home: "Boston", awayScore: 2, homeScore: 3, time: "P3 04:12",
                    moments: ["close finish"]))
        game.period = 4
        #expect(
            GameFace(game, spoilerFree: true).time == "live" && GameFace(game, spoilerFree: false).time == "OT 04:12")
    }

    @Test func `decisions of the picked phone take the takeovers' place, and the ranking makes room`() {
        var state = Self.night()
        state.isPaused = true
        state.message = "the lane of d7 was killed and goes on from the store"
        state.decisions = (0..<20).map {
            ViewState.Happening(
                at: Self.at(1 + Double($0) / 60), phone: nil, rule: $0 == 19 ? "S10" : nil,
                text: "withheld  entry \($0)")
        }
        #expect(
            screen(state, 60, 18, .ascii) == """
                Lanekeeper  02:30:00 UTC  60x   paused  #.  50 %, 2 h 30 min
                pushes 12/s  verdicts 10/s  start 61 update 1204 end 3  refu
                Ranking                    time      worth  front  moments
                 1 New York 2 at Boston 3  P3 04:12     91     57  close fin
                -- Phones 1 to 3 of 42, 61 cards stand ---------------------
                +- 1 d1 --------------------+ +-[2 d7] spoiler-free ------+
                | > New York              2 | | > New York                |
                |   Boston                3 | |   Boston                  |
                |   P3 04:12  close finish  | |   live                    |
                | Denver 88 Salt Lak~ 90 Q4 | |                           |
                | Seattle Oakland     03:30 | |                           |
                |                           | |                           |
                +---------------------------+ +---------------------------+
                -- Last decisions of d7 ------------------------------------
                01:19:00  S10 withheld  entry 19
                01:18:00      withheld  entry 18
                01:17:00      withheld  entry 17
                the lane of d7 was killed and goes on from the store
                """)
    }

    @Test func `help stands where takeovers do; a window too small says so`() {
        var state = Self.night()
        state.showsHelp = true
        let help = screen(state)
        #expect(
            help.contains("── Keys ──") && help.contains("x                  kill its lane: it goes on from the store"))
        #expect(!help.contains("Takeovers"))
        let ordinary = screen(state, 80, 24)
        for line in LiveLayout.help { #expect(ordinary.contains(line), "all of it in an ordinary window") }
        #expect(screen(state, 59, 24) == "02:30 UTC\n60 x 18 is needed, this is 59 x 24\nq leaves")
        #expect(screen(state, 12, 2) == "02:30 UTC\n60 x 18 is n")
        #expect(screen(state, 1, 1) == "0")
    }

    @Test(arguments: [60, 61, 77, 80, 103, 132, 200, 300])
    func `any size, any content: each row is as wide as the screen, also with no game, no phone, long and wide names`(
        columns: Int
    ) {
        var state = Self.night()
        for rows in [18, 19, 24, 37, 60] { _ = screen(state, columns, rows) }
        let long = GameFace(
            away: String(repeating: "横浜ベイ", count: 20), home: String(repeating: "e\u{301}", count: 90), awayScore: 1234,
            homeScore: -3, time: String(repeating: "long ", count: 9),
            moments: ["overtime", "shootout", "walk-off chance"])
        state.games = Array(repeating: .init(game: long, worth: 100, isInWindow: true, cardsInFront: 99_999), count: 30)
        state.phones = Array(
            repeating: PhoneFace(
                name: String(repeating: "d", count: 128), isSpoilerFree: true, card: Array(repeating: long, count: 9)),
            count: 12)
        state.message = String(repeating: "語", count: 200)
        state.takeovers[0].text = String(repeating: "横", count: 200)
        for rows in [18, 24, 60] { _ = screen(state, columns, rows) }
        state = ViewState(now: Self.at(9), begins: Self.at(0), end: Self.at(0), speed: "max")
        #expect(screen(state, columns, 24).contains("none yet"))
    }
}
