import CardRules
import Intake
import Testing

@testable import lanekeeper

@Suite struct ReplayOptionsTests {
    private func complaint(_ arguments: [String]) -> String? {
        do throws(WrongUse) {
            _ = try ReplayOptions(arguments)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `replay: every option is taken, phones pile up, and the slate may stand anywhere`() throws {
        var expected = ReplayOptions(slateFile: "night.ndjson")
        #expect(try ReplayOptions(["night.ndjson"]) == expected)
        expected.phoneFiles = ["one", "two"]
        expected.follow = [GameID(unchecked: "g1"), GameID(unchecked: "g2")]
        expected.tuningFile = "t"
        expected.againstFile = "u"
        expected.isJSON = true
        #expect(
            try ReplayOptions([
                "--phone", "one", "--follow", "g1,g2,g1", "night.ndjson", "--phone", "two", "--tuning", "t",
                "--against", "u", "--json",
            ]) == expected)
    }

    @Test(arguments: [
        ([], "replay needs a slate; see lanekeeper replay --help"),
        (["--json"], "replay needs a slate; see lanekeeper replay --help"),
        (["a", "b"], "replay takes one slate: b is one too many"),
        (["a", "--phone"], "--phone needs a value"), (["a", "--against", "--json"], "--against needs a value"),
        (["a", "--follow", "x,,y"], "--follow takes ids of games, separated by commas; \"\" is none"),
        (["a", "--follow", "x, y"], "--follow takes ids of games, separated by commas; \" y\" is none"),
        (["a", "--fast"], "--fast is no option of replay; see lanekeeper replay --help"),
        (["a", "-j"], "-j is no option of replay; see lanekeeper replay --help"),
    ])
    func `replay: wrong use is named`(arguments: [String], expected: String) {
        #expect(complaint(arguments) == expected)
    }

    @Test func `replay: the help names every option`() {
        for word in ["SLATE", "--phone", "--follow", "--tuning", "--against", "--json"] {
            #expect(ReplayOptions.usage.contains(word))
        }
    }

    // MARK: - Phones

    private let zones = ZoneDirectory { _ in nil }

    private func phones(_ text: String, of path: String = "files/mine.json") throws(WrongUse) -> [ReplayPhone] {
        try ReplayPhone.phones(in: Array(text.utf8), of: path, zones: zones)
    }

    @Test func `a phone's file: its settings and its selection`() throws {
        let phone = try #require(
            phones(
                #"""
                {   // as the app would report it
                    spoilerFree: true, frequentUpdates: true, timeZone: "GMT+1", user: null,
                    selection: { games: ["b", "a"], pinned: "a", muted: ["c"] },
                }
                """#
            ).first)
        #expect(phone.name == "mine" && phone.isSpoilerFree && phone.zone.name == "GMT+1")
        #expect(phone.registration.user == .null && phone.registration.frequentUpdates == true)
        #expect(
            phone.choice(following: [])
                == SelectionBody(
                    games: [GameID(unchecked: "b"), GameID(unchecked: "a")], pinned: GameID(unchecked: "a"),
                    muted: [GameID(unchecked: "c")]))
    }

    @Test func `a phone's file: what it leaves out is that of a phone that can get a card`() throws {
        let phone = try #require(phones("{}").first)
        #expect(phone.registration.user == .value("owner") && phone.zone == .utc)
        #expect(try #require(phone.registration.osVersion) >= .withPushToStart)
        guard case .value = phone.registration.pushToStart else {
            Issue.record("no token")
            return
        }
        let game = GameID(unchecked: "g")
        #expect(phone.choice(following: [game])?.games == [game])
    }

    @Test func `A3: a phone that ranks by taste chooses nothing; one whose taste cannot be read follows the list`()
        throws
    {
        let list = try phones(
            #"""
            [{"personalisation":{"version":1,"teams":{},"leagues":{},"minimumWorth":60,"maxGames":4}},
             {"name":"odd","personalisation":{"version":9}}]
            """#)
        #expect(list.map(\.name) == ["mine 1", "odd"])
        #expect(list[0].choice(following: []) == nil && list[1].choice(following: []) != nil)
    }

    @Test(arguments: [
        ("{\n\"sound\": 1}", "mine.json:2: /sound: must be true or false"),
        ("{\n\n\"sounds\": true}", "mine.json:3: /sounds: no such key; sound?"),
        (
            "[{},\n{\"selection\": {\n\"games\": 1}}]",
            "mine.json:3: /1/selection/games: must be a list of at most 1000 ids of games"
        ),
        (
            "[{},\n{\"selection\": {}}]",
            "mine.json:2: /1/selection/games: is missing: a list of at most 1000 ids of games"
        ),
        ("{\n\"sound\" true}", "mine.json:2: \"t\" cannot stand here (column 9)"),
        ("[]", "mine.json:1: must be at least one phone"), ("7", "mine.json:1: must be an object"),
        ("{\"timeZone\": \"Nowhere\"}", "mine.json:1: /timeZone: must be a time zone such as \"Europe/Berlin\""),
    ])
    func `a phone's file: what is wrong is named with file, line and field`(text: String, expected: String) {
        #expect {
            try phones(text, of: "mine.json")
        } throws: {
            ($0 as? WrongUse)?.text == expected
        }
    }
}
