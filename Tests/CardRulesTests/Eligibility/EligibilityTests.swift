import Testing

@testable import CardRules

/// `eligibleSet` alone (A3).
@Suite struct EligibilityTests {
    static func candidates(_ scores: [(GameID, Double)]) -> [Candidate] {
        scores.map { Candidate(game: $0.0, score: $0.1) }
    }

    func set(_ members: [GameID], _ scores: [(GameID, Double)], _ source: EligibilitySource) -> [GameID] {
        eligibleSet(from: members, candidates: Self.candidates(scores), source: source, margin: 8)
    }

    @Test func `A3: with a selection, its games in the window, in order of joining`() {
        let selection = EligibilitySource.selection(["g2", "g1", "g3"])
        #expect(set([], [("g1", 1), ("g2", 1), ("g9", 99)], selection) == ["g2", "g1"])
        #expect(set(["g3"], [("g1", 1), ("g3", 1)], selection) == ["g3", "g1"])
        #expect(set(["g9", "g1"], [("g1", 1), ("g9", 99)], selection) == ["g1"])
    }

    @Test func `A3: what leaves the window leaves the set, whatever fills it`() {
        for source in [EligibilitySource.selection(["g1"]), .taste(minimum: 0, limit: 4), .nothing] {
            #expect(set(["g1"], [], source).isEmpty)
        }
    }

    @Test func `A3: by taste, the best that reach the minimum, at most the limit`() {
        let scores: [(GameID, Double)] = [("g1", 59.9), ("g2", 60), ("g3", 80), ("g4", 70), ("g5", 70)]
        #expect(set([], scores, .taste(minimum: 60, limit: 3)) == ["g3", "g4", "g5"])
        #expect(set([], scores, .taste(minimum: 60, limit: 9)) == ["g3", "g4", "g5", "g2"])
    }

    @Test func `A3: a member stays below the minimum, and a full set gives way only by the margin`() {
        let taste = EligibilitySource.taste(minimum: 60, limit: 2)
        #expect(set(["g1", "g2"], [("g1", 10), ("g2", 90)], taste) == ["g1", "g2"])
        #expect(set(["g1", "g2"], [("g1", 60), ("g2", 90), ("g3", 67.9)], taste) == ["g1", "g2"])
        #expect(set(["g1", "g2"], [("g1", 60), ("g2", 90), ("g3", 68)], taste) == ["g2", "g3"])
    }

    @Test func `A3: with neither, none new`() {
        #expect(set(["g1"], [("g1", 50), ("g2", 99)], .nothing) == ["g1"])
    }

    @Test(arguments: 0..<32 as Range<UInt64>)
    func `A3: the same input gives the same set, without repeats, and settles at once`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var members: [GameID] = []
        for step in 0..<200 {
            let all = (1...8).map { GameID(unchecked: "g\($0)") }
            let scores = all.filter { _ in random.chance(70) }.map {
                ($0, Double(Int.random(in: 0...100, using: &random)))
            }
            let chosen = all.filter { _ in random.chance(50) }
            let sources: [EligibilitySource] = [.nothing, .selection(chosen), .taste(minimum: 40, limit: 3)]
            let source = random.pick(sources)
            let next = set(members, scores, source)
            #expect(Set(next).count == next.count, "seed \(seed), step \(step)")
            #expect(set(members, scores.reversed(), source) == next, "seed \(seed), step \(step)")
            #expect(set(next, scores, source) == next, "seed \(seed), step \(step)")
            members = next
        }
    }
}
