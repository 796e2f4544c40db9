import CardRules
import Foundation
import PushWire
import Testing

@Suite struct ContentBytesTests {
    @Test(arguments: seeds)
    func `P11: every content that is written decodes with a default decoder into an equal one`(seed: UInt64) throws {
        var random = Seeded(seed)
        for step in 0..<20 {
            let content = random.content()
            let bytes = ContentBytes(content).full
            let read = try JSONDecoder().decode(SlateContent.self, from: Data(bytes))
            #expect(read == content, "step \(step); replay: LANEKEEPER_SEED=\(seed) swift test")
            let encoder = JSONEncoder()
            let theirs = try JSONDecoder().decode(JSONValue.self, from: encoder.encode(content))
            #expect(try JSONDecoder().decode(JSONValue.self, from: Data(bytes)) == theirs, "seed \(seed), step \(step)")
        }
    }

    @Test func `ref L5: what is nil is left out, a null detail too`() {
        let game = SlateContent.Game(
            id: GameID(unchecked: "g1"), sport: "golf", league: nil, home: "A", away: "B", phase: .pre, detail: .null)
        let content = SlateContent(games: [game], front: game.id, spoilerFree: true, asOf: 1)
        #expect(
            String(decoding: ContentBytes(content).full, as: UTF8.self)
                == #"{"asOf":1,"front":"g1","games":[{"away":"B","home":"A","id":"g1","phase":"pre","sport":"golf"}],"spoilerFree":true}"#
        )
    }

    @Test func `Times show 31 years off: asOf is Unix seconds, as a number`() {
        let content = SlateContent(
            arrangement: SlateArrangement(games: [GameID(unchecked: "g1")], spoilerFree: false),
            snapshot: snapshot([.sample("g1")], asOf: WallTime(fractionalSeconds: 1_760_132_400.9)))
        #expect(content?.asOf == 1_760_132_400)
    }
}

@Suite struct SlateContentTests {
    private let detail = JSONValue.object(["lead": .string("Boston"), "possession": .null])

    private func content(_ games: [String], _ snapshot: SlateSnapshot, spoilerFree: Bool) -> SlateContent? {
        SlateContent(
            arrangement: SlateArrangement(games: games.map { GameID(unchecked: $0) }, spoilerFree: spoilerFree),
            snapshot: snapshot)
    }

    @Test func `P2: spoiler-free content is the same bytes whatever the scores, the leader and the moment`() {
        for phase in Phase.allCases {
            for beyond in [false, true] {
                let one = RankedGame.sample("g1", phase: phase, homeScore: 3, awayScore: 90, beyond: beyond)
                var other = one
                other.homeScore = 120
                other.detail = detail
                other.moments = [.comeback]
                other.worth = 99
                if beyond {
                    other.period = 7
                    other.clock = "0:01"
                }
                let first = content(["g1"], snapshot([one]), spoilerFree: true).map { ContentBytes($0).full }
                let second = content(["g1"], snapshot([other]), spoilerFree: true).map { ContentBytes($0).full }
                #expect(first != nil && first == second)
            }
        }
    }

    @Test func `P2: beyond regulation a spoiler-free card has neither period nor clock, within it both`() {
        let games = snapshot([.sample("in"), .sample("out", beyond: true)])
        let free = content(["in", "out"], games, spoilerFree: true)
        #expect(free?.games.map(\.period) == [4, nil])
        #expect(free?.games.map(\.clock) == ["2:31", nil])
        #expect(content(["out"], games, spoilerFree: false)?.games.first?.period == 5)
    }

    @Test func `an ordinary card shows scores, detail without nulls, and the strongest moment`() {
        let games = snapshot([.sample("g1", detail: detail, moments: [.shootout, .upset])])
        let game = content(["g1"], games, spoilerFree: false)?.games.first
        #expect(game?.homeScore == 98 && game?.awayScore == 101 && game?.moment == .shootout)
        #expect(game?.detail == .object(["lead": .string("Boston")]))
    }

    @Test func `T12: games that the snapshot lacks are left out, the first it has is the front; none is nil`() {
        let games = snapshot([.sample("g1"), .sample("g2")])
        let held = content(["gone", "g2", "g1"], games, spoilerFree: false)
        #expect(held?.front == GameID("g2"))
        #expect(held?.games.map(\.id.text) == ["g2", "g1"])
        #expect(content(["gone"], games, spoilerFree: false) == nil)
    }
}
