import CardRules
import Intake
import Testing

@Suite struct DeviceBodyTests {
    /// Berlin is whatever the test's system says; two letters are a zone nowhere.
    private static let zones = ZoneDirectory { _ in nil }

    private func body(_ text: String) throws -> DeviceBody {
        try DeviceBody(JSONDocument(Array(text.utf8)), zones: Self.zones)
    }

    private func fault(_ text: String) throws -> String? {
        do {
            _ = try body(text)
            return nil
        } catch let fault as FieldFault {
            return "\(fault)"
        }
    }

    @Test func `a device: every field is taken`() throws {
        let body = try body(
            #"""
            {"app":"lineup","user":"u","gateway":"sandbox","pushToStartToken":"A0ff","osVersion":"17.2","appVersion":"3",
             "timeZone":"GMT+2","quietHours":{"from":"22:00","to":"07:30"},"spoilerFree":true,"sound":true,
             "frequentUpdates":false,"personalisation":{"version":1,"teams":{"A":0.5},"leagues":{"NBA":3},
             "minimumWorth":60,"maxGames":2}}
            """#)
        var patch = DevicePatch()
        patch.user = .value("u")
        patch.pushToStart = .value(PushAddress(token: [0xA0, 0xFF], gateway: .sandbox))
        patch.osVersion = OSVersion(major: 17, minor: 2)
        patch.appVersion = "3"
        patch.zone = Zone(name: "GMT+2", fixedOffsetSeconds: 7200)
        patch.quietHours = try .value(#require(QuietHours(fromMinute: 1320, toMinute: 450)))
        patch.spoilerFree = true
        patch.sound = true
        patch.frequentUpdates = false
        patch.personalisation = .readable(
            Taste(teams: ["A": 0.5], leagues: ["NBA": 3], minimumWorth: 60, maxGames: 2))
        #expect(body.patch == patch && body.app == AppID("lineup"))
    }

    @Test func `a device: what is left out is left alone, and null clears where there is something to clear`() throws {
        #expect(try body("{}") == (try body(#"{"gateway":"production"}"#)))
        #expect(try body("{}").patch == DevicePatch())
        let cleared = try body(#"{"user":null,"quietHours":null,"pushToStartToken":null,"personalisation":null}"#)
        #expect(cleared.patch.user == .null && cleared.patch.quietHours == .null)
        #expect(cleared.patch.pushToStart == .null)
        #expect(cleared.patch.personalisation == Personalisation.none)
    }

    @Test(arguments: [
        ("[]", "must be an object"), (#"{"sound":1}"#, "/sound: must be true or false"),
        (#"{"sound":null}"#, "/sound: must be true or false"),
        (#"{"spoilerfree":true}"#, "/spoilerfree: no such key; spoilerFree?"), (#"{"x~/":1}"#, "/x~0~1: no such key"),
        (#"{"app":"a b"}"#, "/app: must be an id, 1 to 128 of A-Z a-z 0-9 . _ : -"),
        (#"{"user":""}"#, "/user: must be a text of 1 to 256 bytes"),
        (#"{"osVersion":"new"}"#, "/osVersion: must be a version such as \"17.2\""),
        (#"{"timeZone":"Nowhere/Else"}"#, "/timeZone: must be a time zone such as \"Europe/Berlin\""),
        (#"{"pushToStartToken":"a0"}"#, "/gateway: is missing: a token comes with its gateway"),
        (
            #"{"pushToStartToken":"a0f","gateway":"sandbox"}"#,
            "/pushToStartToken: must be an even number of hex digits, 2 to 400, or null"
        ),
        (#"{"gateway":"prod"}"#, "/gateway: must be \"production\" or \"sandbox\""),
        (#"{"quietHours":{"from":"22:00"}}"#, "/quietHours/to: is missing: HH:MM, \"00:00\" to \"23:59\""),
        (
            #"{"quietHours":{"from":"24:00","to":"07:00"}}"#,
            "/quietHours/from: must be HH:MM, \"00:00\" to \"23:59\""
        ),
        (#"{"quietHours":{"from":"07:00","to":"07:00"}}"#, "/quietHours: must be two different times"),
        (#"{"quietHours":{"from":"07:00","to":"08:00","too":1}}"#, "/quietHours/too: no such key; to?"),
        (#"{"quietHours":"night"}"#, "/quietHours: must be an object"),
    ])
    func `a device: the field at fault is named with what it would be`(text: String, expected: String) throws {
        #expect(try fault(text) == expected)
    }

    @Test(arguments: [
        #"{"version":2,"teams":{},"leagues":{},"minimumWorth":60,"maxGames":4}"#,
        #"{"version":1,"teams":{"A":1.5},"leagues":{},"minimumWorth":60,"maxGames":4}"#,
        #"{"version":1,"teams":{},"leagues":{"NBA":"much"},"minimumWorth":60,"maxGames":4}"#,
        #"{"version":1,"teams":{},"leagues":{},"minimumWorth":60,"maxGames":0}"#,
        #"{"version":1,"teams":{},"leagues":{},"minimumWorth":60,"maxGames":4,"more":1}"#,
        #"{"version":1,"teams":{},"leagues":{},"minimumWorth":60}"#, #"[1, "x"]"#, "7",
    ])
    func `A2: a personalisation of any other shape is no fault: it is kept as it came and cannot be read`(text: String)
        throws
    {
        #expect(try body("{\"personalisation\": \(text) }").patch.personalisation == .unreadable(text))
    }

    // MARK: - Selections

    private func selection(_ text: String, needsTime: Bool = true) throws -> SelectionBody {
        try SelectionBody(JSONDocument(Array(text.utf8)).root, needsTime: needsTime)
    }

    @Test func `A1: a selection is an ordered list, a pin and mutes, each game once`() throws {
        let (a, b, c) = (GameID(unchecked: "a"), GameID(unchecked: "b"), GameID(unchecked: "c"))
        let full = try selection(#"{"games":["b","a","b"],"pinned":"a","muted":["c"],"syncedAt":5.5}"#)
        #expect(full.games == [b, a] && full.pinned == a && full.muted == [c])
        #expect(full.syncedAt == WallTime(milliseconds: 5500))
        let short = try selection(#"{"games":[],"pinned":null}"#, needsTime: false)
        #expect(short == SelectionBody(games: []))
        guard case .selected(_, let pinned, _, let syncedAt) = short.event(at: WallTime(seconds: 9)) else {
            Issue.record("no selection")
            return
        }
        #expect(pinned == nil && syncedAt == WallTime(seconds: 9))
    }

    @Test(arguments: [
        (#"{"syncedAt":1}"#, "/games: is missing: a list of at most 1000 ids of games"),
        (#"{"games":["a b"],"syncedAt":1}"#, "/games: must be a list of at most 1000 ids of games"),
        (#"{"games":null,"syncedAt":1}"#, "/games: must be a list of at most 1000 ids of games"),
        (#"{"games":[]}"#, "/syncedAt: is missing: a number of Unix seconds"),
        (#"{"games":[],"syncedAt":"now"}"#, "/syncedAt: must be a number of Unix seconds"),
        (#"{"games":[],"syncedAt":1,"pinned":1}"#, "/pinned: must be an id, 1 to 128 of A-Z a-z 0-9 . _ : -, or null"),
        (#"{"games":[],"syncedAt":1,"mute":[]}"#, "/mute: no such key; muted?"),
    ])
    func `a selection: the field at fault is named with what it would be`(text: String, expected: String) {
        #expect { try selection(text) } throws: { "\($0)" == expected }
    }

    @Test func `a selection: more games than it may have are a fault`() throws {
        let games = (0...SelectionBody.maximumGames).map { "\"g\($0)\"" }
        #expect(throws: FieldFault.self) {
            try selection("{\"games\":[\(games.joined(separator: ","))],\"syncedAt\":1}")
        }
        #expect(throws: Never.self) {
            try selection("{\"games\":[\(games.dropLast().joined(separator: ","))],\"syncedAt\":1}")
        }
    }
}
