import Testing

@testable import CardRules

@Suite struct HeldScoresTests {
    @Test func `slates: held scores are those that came last, in their order, whatever was taken between`() {
        var held = HeldScores()
        var plain: [(game: String, at: Int64)] = []
        var random = SeededGenerator(seed: 7)
        func patch(_ game: String) -> ScorePatch { ScorePatch(game: GameID(unchecked: game), at: WallTime(seconds: 0)) }
        for step in 0..<5000 as Range<Int64> {
            let game = "g\(Int.random(in: 0..<12, using: &random))"
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let taken = held.take(of: GameID(unchecked: game)).map(\.arrived)
                #expect(taken == plain.filter { $0.game == game }.map { WallTime(seconds: $0.at) })
                plain.removeAll { $0.game == game }
            case 1:
                let gone = held.dropExpired(at: WallTime(seconds: step), afterSeconds: 30)
                #expect(gone == plain.count { $0.at + 30 <= step })
                plain.removeAll { $0.at + 30 <= step }
            default:
                let gone = held.hold(patch(game), arrived: WallTime(seconds: step), limit: 25)
                plain.append((game, step))
                #expect(gone == max(0, plain.count - 25))
                plain.removeFirst(gone)
            }
            #expect(held.count == plain.count && held.oldest == plain.first.map { WallTime(seconds: $0.at) })
        }
    }
}
