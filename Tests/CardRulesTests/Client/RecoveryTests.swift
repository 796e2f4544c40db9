import CardRules
import Foundation
import Testing

@Suite struct RecoveryTests {
    @Test func `C1: active and stale are alive, pending, ended and dismissed are not`() {
        #expect(ClientActivity.State.allCases.filter(\.isAlive) == [.active, .stale])
    }

    @Test(arguments: [true, false])
    func `C1: a stale card is adopted, told to the server once, and never ended`(isForeground: Bool) {
        var memory = ClientMemory()
        let first = memory.look([activity("a", .stale)], isForeground: isForeground)
        #expect(first.adopted == ["a"] && first.words == ["a stale"] && first.ends == [])
        #expect(memory.look([activity("a", .stale)], isForeground: isForeground) == [.keep(ActivityID(unchecked: "a"))])
        #expect(memory.look([activity("a")], isForeground: isForeground).words == [])
        #expect(memory.look([activity("a", .stale)], isForeground: isForeground).words == ["a stale"])
    }

    @Test func `C2: what stands is adopted, whatever it is; what is known is kept`() {
        var memory = ClientMemory()
        let cards = [
            activity("a", token: 1), activity("b", .stale, key: "s1"), activity("c", key: "s2", by: .app),
            activity("d", .pending, key: "s3"),
        ]
        let first = memory.look(cards, isForeground: true)
        #expect(first.adopted == ["a", "b", "c"] && first.ends == [])
        let second = memory.look(cards, isForeground: true)
        #expect(second.adopted == [] && second.kept == ["a", "b", "c"] && second.reports == [])
    }

    @Test func `C2: of duplicates under one key the newest is kept, and the app in front ends the others`() {
        let cards = [
            activity("old", token: 1, began: tenPM.advanced(bySeconds: -600)),
            activity("new", token: 2, began: tenPM.advanced(bySeconds: -60)),
            activity("oldest", began: tenPM.advanced(bySeconds: -900)),
            activity("other", key: "s1", began: tenPM.advanced(bySeconds: -9000)),
        ]
        var memory = ClientMemory()
        let actions = memory.look(cards, isForeground: true)
        #expect(actions.ends == ["old", "oldest"])
        #expect(actions.tokens.map(\.activity.text) == ["new"])
        #expect(actions.last == .end(ActivityID(unchecked: "oldest")))
    }

    @Test func `C2: in the background duplicates stand, and the server gets the tokens of all`() {
        let cards = [
            activity("old", token: 1, began: tenPM.advanced(bySeconds: -600)),
            activity("new", token: 2, began: tenPM.advanced(bySeconds: -60)),
        ]
        var memory = ClientMemory()
        let actions = memory.look(cards)
        #expect(actions.ends == [] && actions.tokens.map(\.activity.text) == ["old", "new"])
        #expect(memory.look(cards, isForeground: true).ends == ["old"])
    }

    @Test func `C2: without a time of its own the one seen first is the older; two seen together both stay`() {
        var memory = ClientMemory()
        _ = memory.look([activity("a")])
        #expect(
            memory.look([activity("b"), activity("a")], isForeground: true, at: tenPM.advanced(bySeconds: 5)).ends
                == ["a"])
        var fresh = ClientMemory()
        #expect(fresh.look([activity("a"), activity("b")], isForeground: true).ends == [])
    }

    @Test func `C2: a stale newest one counts, a dead or scheduled one does not`() {
        let old = activity("old", began: tenPM.advanced(bySeconds: -600))
        for (state, ends) in [
            (ClientActivity.State.stale, ["old"]), (.ended, []), (.dismissed, []), (.pending, []),
        ] {
            var memory = ClientMemory()
            #expect(memory.look([old, activity("new", state, began: tenPM)], isForeground: true).ends == ends)
        }
    }

    @Test func `C3: a card without an update token is kept, and its token told when it comes`() throws {
        var memory = ClientMemory()
        #expect(memory.look([activity("a")], isForeground: true).reports == [])
        #expect(memory.look([activity("a")], isForeground: true, at: tenPM.advanced(bySeconds: 900)).ends == [])
        let actions = memory.look([activity("a", token: 7)], at: tenPM.advanced(bySeconds: 1500))
        let token = try #require(actions.tokens.first)
        #expect(token.address == address(7) && token.key == .slate && token.startedBy == .push)
        #expect(token.began == tenPM)
        #expect(memory.look([activity("a", token: 7)]).reports == [])
        #expect(memory.look([activity("a", token: 8)]).tokens.map(\.address) == [address(8)])
    }

    @Test func `L3: a card that the app started is told as the app's, with when it began`() {
        var memory = ClientMemory()
        memory.startedHere(ActivityID(unchecked: "a"), under: .slate, at: tenPM)
        let actions = memory.look([activity("a", token: 1)], at: tenPM.advanced(bySeconds: 5))
        #expect(actions.kept == ["a"] && actions.tokens.map(\.startedBy) == [.app])
        #expect(actions.tokens.map(\.began) == [tenPM])
    }

    @Test func `L3: a token of an activity that has ended is not told again`() {
        var memory = ClientMemory()
        _ = memory.look([activity("a", token: 1)])
        #expect(memory.look([activity("a", .ended, token: 2)]).tokens == [])
    }

    @Test func `L5: what ended and what its owner swiped away is told, each once, until it has arrived`() {
        var memory = ClientMemory()
        _ = memory.look([activity("a"), activity("b", key: "s1")])
        let cards = [activity("a", .ended), activity("b", .dismissed, key: "s1")]
        for _ in 0..<3 {
            #expect(memory.recover(cards, isForeground: false, at: tenPM).words == ["a ended", "b dismissed"])
        }
        #expect(memory.look(cards).words == ["a ended", "b dismissed"])
        #expect(memory.look(cards) == [] && memory.look([]) == [])
        #expect(memory.activities == [])
    }

    @Test func `L5: dismissed after it ended, after the app ended it, or after its limit is not its owner's doing`()
        throws
    {
        var seenEnded = ClientMemory()
        _ = seenEnded.look([activity("a")])
        _ = seenEnded.recover([activity("a", .ended)], isForeground: false, at: tenPM)
        #expect(seenEnded.look([activity("a", .dismissed)]).words == ["a ended"])

        var endedHere = ClientMemory()
        _ = endedHere.look([activity("a")])
        _ = try endedHere.endLocally(ActivityID(unchecked: "a"), isForeground: true)
        #expect(endedHere.look([activity("a", .dismissed)]).words == ["a ended"])

        var duplicate = ClientMemory()
        let cards = [activity("a", began: tenPM.advanced(bySeconds: -60)), activity("b", began: tenPM)]
        _ = duplicate.look(cards, isForeground: true)
        #expect(duplicate.look([activity("a", .dismissed), cards[1]]).words == ["a ended"])

        for (hours, word) in [(7.9, "a dismissed"), (8, "a ended")] {
            var memory = ClientMemory()
            _ = memory.look([activity("a")])
            #expect(
                memory.look([activity("a", .dismissed)], at: tenPM.advanced(bySeconds: hours * 3600)).words == [word])
        }
    }

    @Test func `L5: an activity that is gone is told as ended; one that was never known and has ended too`() {
        var memory = ClientMemory()
        _ = memory.look([activity("a")])
        #expect(memory.look([]).words == ["a ended"])
        #expect(memory.look([]) == [])
        #expect(memory.look([activity("b", .ended)]).words == ["b ended"])
        #expect(memory.look([activity("c", .pending)]) == [] && memory.look([]) == [])
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `E4, C1, C2: whatever ActivityKit says, code in the background ends nothing, and no key loses its last card`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var memory = ClientMemory()
        var now = tenPM
        for step in 0..<200 {
            now = now.advanced(bySeconds: Double.random(in: -5...7200, using: &random))
            let isForeground = random.chance(50)
            let cards = ["a", "b", "c", "d", "e", "f"].filter { _ in random.chance(60) }.map { id in
                activity(
                    id, random.pick(ClientActivity.State.allCases),
                    key: random.pick(["slate", "s1"]), token: random.chance(50) ? random.pick([1, 2]) : nil,
                    began: random.chance(50)
                        ? now.advanced(bySeconds: Double.random(in: -90_000...60, using: &random)) : nil,
                    by: random.chance(50) ? .push : .app)
            }
            let before = memory
            let actions = memory.recover(cards, isForeground: isForeground, at: now)
            #expect(isForeground || actions.ends == [], "seed \(seed), step \(step)")
            for id in actions.ends {
                let ended = cards.first { $0.id.text == id }
                #expect(
                    cards.contains { $0.state.isAlive && $0.key == ended?.key && !actions.ends.contains($0.id.text) },
                    "seed \(seed), step \(step)")
            }
            #expect(memory.activities.count <= ClientMemory.activitiesKept)
            var again = before
            #expect(again.recover(cards, isForeground: isForeground, at: now) == actions)
            if random.chance(50) { for report in actions.reports { memory.delivered(report) } }
        }
    }

    @Test func `the memory of the app survives a launch, and is bounded`() throws {
        var memory = ClientMemory()
        _ = memory.look([activity("a", token: 1), activity("b", key: "s1")])
        _ = memory.look([activity("a", .stale, token: 1), activity("b", .dismissed, key: "s1")])
        #expect(try JSONDecoder().decode(ClientMemory.self, from: JSONEncoder().encode(memory)) == memory)
        for number in 0..<300 {
            _ = memory.recover([activity("x\(number)", .ended, key: "k\(number)")], isForeground: false, at: tenPM)
        }
        #expect(memory.activities.count == ClientMemory.activitiesKept)
    }
}
