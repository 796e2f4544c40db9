import CardRules
import Testing

@Suite struct LocalCardTests {
    private static let night = NightSpan(containing: tenPM, in: .utc, rollsAtMinute: 360)
    private static let device = DeviceID(unchecked: "d1")

    private func refusal(
        _ memory: ClientMemory = ClientMemory(), under key: String = "slate", beside cards: [ClientActivity] = [],
        claim: OwnCardClaim = .selection(answeredAt: tenPM), isForeground: Bool = true, isAsked: Bool = false,
        at now: WallTime = tenPM
    ) -> Rule? {
        do throws(ClientRefusal) {
            try memory.mayStartCard(
                under: CardKey(unchecked: key), beside: cards, claim: claim, isForeground: isForeground,
                isAsked: isAsked, night: Self.night, at: now)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test func `E4: code in the background never ends a card that the server owns`() {
        var memory = ClientMemory()
        _ = memory.look([
            activity("pushed"), activity("told", key: "s1", token: 1, by: .app), activity("own", key: "s2", by: .app),
        ])
        let before = memory
        for (id, rule) in [("pushed", Rule.e4), ("told", .e4), ("own", .c3), ("unknown", .c3)] {
            let error = #expect(throws: ClientRefusal.self) {
                _ = try memory.endLocally(ActivityID(unchecked: id), isForeground: false)
            }
            #expect(error?.rule == rule, "\(id)")
        }
        #expect(memory == before)
    }

    @Test func `C3: the app in front may end a card, and tells it`() throws {
        var memory = ClientMemory()
        _ = memory.look([activity("a")])
        let end = try memory.endLocally(ActivityID(unchecked: "a"), isForeground: true)
        #expect(end == .end(ActivityID(unchecked: "a")))
        #expect(memory.look([activity("a", .ended)]).words == ["a ended"])
    }

    @Test func `C3: no card is started or replaced in the background`() {
        #expect(refusal(isForeground: false) == .c3)
        #expect(refusal() == nil)
    }

    @Test(arguments: [ClientActivity.State.active, .stale, .pending])
    func `C1: a card that stands under the key is adopted, no second one is started`(state: ClientActivity.State) {
        #expect(refusal(beside: [activity("a", state)], isAsked: true) == .s3)
        #expect(refusal(under: "s1", beside: [activity("a", state)]) == nil)
    }

    @Test func `S3: what has ended is in nobody's way`() {
        #expect(refusal(beside: [activity("a", .ended), activity("b", .dismissed)]) == nil)
    }

    @Test func `S13: five cards of the app stand: no sixth`() {
        let cards = (0..<5).map { activity("a\($0)", key: "s\($0)") }
        #expect(refusal(beside: cards) == .s13)
        #expect(refusal(beside: Array(cards.dropLast())) == nil)
    }

    @Test func `S8: the app starts its own slate card only while the server holds back for its selection`() {
        #expect(refusal(claim: .selection(answeredAt: nil)) == .s8)
        #expect(refusal(at: tenPM.advanced(bySeconds: 29.9)) == nil)
        #expect(refusal(at: tenPM.advanced(bySeconds: 30)) == .s8)
        #expect(refusal(at: tenPM.advanced(bySeconds: -1)) == .s8)
    }

    @Test func `S15: a session's card is the app's to start only where startedOn names the device`() {
        let named = OwnCardClaim.session(startedOn: [Self.device], device: Self.device)
        #expect(refusal(under: "s1", claim: named) == nil)
        let other = OwnCardClaim.session(startedOn: [DeviceID(unchecked: "d2")], device: Self.device)
        #expect(refusal(under: "s1", claim: other) == .s15)
        #expect(refusal(under: "s1", claim: .session(startedOn: [], device: Self.device)) == .s15)
    }
}

/// Named after what people saw.
@Suite struct ClientSymptomTests {
    private static let night = NightSpan(containing: tenPM, in: .utc, rollsAtMinute: 360)

    @Test func `the user swiped the card away and it comes back: the app tells it, and starts none itself tonight`()
        throws
    {
        var memory = ClientMemory()
        _ = memory.look([activity("a", token: 1)])
        #expect(memory.look([activity("a", .dismissed)], isForeground: true).words == ["a dismissed"])
        func mayStart(isAsked: Bool, night: NightSpan = Self.night, at now: WallTime = tenPM) throws {
            try memory.mayStartCard(
                under: .slate, beside: [], claim: .selection(answeredAt: now), isForeground: true, isAsked: isAsked,
                night: night, at: now)
        }
        let error = #expect(throws: ClientRefusal.self) { try mayStart(isAsked: false) }
        #expect(error?.rule == .s9)
        try mayStart(isAsked: true)
        let tomorrow = tenPM.advanced(bySeconds: 86_400)
        try mayStart(
            isAsked: false, night: NightSpan(containing: tomorrow, in: .utc, rollsAtMinute: 360), at: tomorrow)
    }

    @Test func `a wake in the background killed the card that had no token yet: it stands`() {
        var memory = ClientMemory()
        #expect(memory.look([activity("a")]).ends == [])
        #expect(memory.look([activity("a")], at: tenPM.advanced(bySeconds: 3)).ends == [])
    }

    @Test func `a stale date on the start killed the card: stale is alive`() {
        var memory = ClientMemory()
        #expect(memory.look([activity("a", .stale)], isForeground: true, at: tenPM).ends == [])
    }

    @Test func `a phone out of reach collects a pile of cards: back again it adopts the newest and tells of all`() {
        var memory = ClientMemory()
        let pile = (0..<4).map {
            activity("a\($0)", token: UInt8($0), began: tenPM.advanced(bySeconds: Double($0) * 60))
        }
        let woken = memory.look(pile, at: tenPM.advanced(bySeconds: 7200))
        #expect(woken.ends == [] && woken.tokens.count == 4)
        #expect(woken.tokens.map(\.began) == pile.map(\.began))
        #expect(memory.look(pile, isForeground: true).ends == ["a0", "a1", "a2"])
    }

    @Test func `the card's age counted from the wrong moment: a late token comes with when the card was first seen`() {
        var memory = ClientMemory()
        _ = memory.look([activity("a")], at: tenPM)
        let late = memory.look([activity("a", token: 1)], at: tenPM.advanced(bySeconds: 1500))
        #expect(late.tokens.map(\.began) == [tenPM])
    }

    @Test func `the ended card's token came again and took the new card's place: it is not told`() {
        var memory = ClientMemory()
        _ = memory.look([activity("old", token: 1)])
        let actions = memory.look([activity("old", .ended, token: 3), activity("new", token: 2)])
        #expect(actions.tokens.map(\.activity.text) == ["new"])
    }

    @Test func `every push accepted, none arrives: a token that changed in silence is read after the launch and told`()
    {
        let times = PushToStartReader.readings(launchedAt: tenPM)
        #expect(times == [tenPM, tenPM.advanced(bySeconds: 3)])
        var reader = PushToStartReader()
        for (reading, isTold) in [(address(0xa1), true), (address(0xa1), false), (address(0xa9), true)] {
            let report = reader.report(reading)
            #expect((report != nil) == isTold)
            if let report { reader.delivered(report) }
        }
    }
}
