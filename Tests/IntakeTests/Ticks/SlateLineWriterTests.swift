import CardRules
import Intake
import Simulation
import Testing

@Suite struct SlateLineWriterTests {
    private func read(_ lines: [SlateLine]) throws -> [SlateLine] {
        let bytes = SlateLineWriter.text(of: lines)
        return try SlateText(bytes.span).lines.map(\.line)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `slates: every line of a night of all sports reads back as it was written`(seed: UInt64) throws {
        let night = NightGenerator(seed: seed, announcedAt: WallTime(seconds: 1_794_699_000), games: 24).lines()
        #expect(try read(night) == night, "seed \(seed)")
    }

    @Test func `C5: absent and null stay apart, fractions, versions, corrections and unknown keys are kept`() throws {
        var game = GamePatch(game: GameID(unchecked: "g"), at: WallTime(milliseconds: 1_794_699_000_123))
        game.league = .null
        game.startsAt = .value(WallTime(milliseconds: 1_794_700_800_250))
        game.homeRank = .value(3)
        game.spread = .value(-1.5)
        game.favourite = .value(.away)
        game.version = 7
        game.others = ["venue": .object(["roof": .bool(true), "name": .string("a \"b\"\n\u{1}é")])]
        var score = ScorePatch(game: GameID(unchecked: "g"), at: WallTime(seconds: 1_794_700_900))
        score.home = .value(0)
        score.clock = .null
        score.detail = .value(.object(["down": .integer(3), "at": .number(0.25)]))
        score.isCorrection = true
        score.version = 8
        let lines = [SlateLine.game(game), .score(score)]
        #expect(try read(lines) == lines)
        #expect(
            String(decoding: SlateLineWriter.text(of: [.score(score)]), as: UTF8.self)
                == #"{"clock":null,"correction":true,"detail":{"at":0.25,"down":3},"game":"g","home":0,"t":1794700900,"type":"score","version":8}"#
                + "\n")
    }
}
