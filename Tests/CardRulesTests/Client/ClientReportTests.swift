import CardRules
import Foundation
import Testing

@Suite struct ClientReportTests {
    private let device = DeviceID(unchecked: "d1")

    /// Method, path and body as text with its keys sorted.
    private func text(_ report: ClientReport) throws -> String {
        let call = report.call(of: device)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return "\(call.method.rawValue) \(call.path) \(String(decoding: try encoder.encode(call.body), as: UTF8.self))"
    }

    private func patch(_ change: (inout DevicePatch) -> Void) -> ClientReport {
        var patch = DevicePatch()
        change(&patch)
        return .device(patch, app: nil)
    }

    @Test func `C4: the property is read at launch and three seconds later, or as the tuning says`() {
        var tuning = Tuning()
        tuning.app.rereadSeconds = 0.5
        #expect(PushToStartReader.readings(launchedAt: tenPM).map { $0.seconds(since: tenPM) } == [0, 3])
        #expect(
            PushToStartReader.readings(launchedAt: tenPM, tuning: tuning).map { $0.seconds(since: tenPM) } == [0, 0.5])
    }

    @Test func `C4: that iOS has none is told, once a launch, and a token that follows too`() throws {
        var reader = PushToStartReader()
        let none = try #require(reader.report(nil))
        #expect(try text(none) == #"PUT /v1/devices/d1 {"pushToStartToken":null}"#)
        #expect(reader.report(nil) == none)  // it did not arrive
        reader.delivered(none)
        #expect(reader.report(nil) == nil)
        let token = try #require(reader.report(PushAddress(token: [0xAB, 1], gateway: .sandbox)))
        #expect(try text(token) == #"PUT /v1/devices/d1 {"gateway":"sandbox","pushToStartToken":"ab01"}"#)
        reader.delivered(token)
        #expect(reader.report(PushAddress(token: [0xAB, 1], gateway: .sandbox)) == nil)
        #expect(reader.report(PushAddress(token: [0xAB, 1], gateway: .production)) != nil)
        #expect(PushToStartReader().report(nil) != nil)
    }

    @Test func `S14: asked by the header the app reads again and tells it, whatever it told before`() throws {
        var reader = PushToStartReader()
        reader.delivered(try #require(reader.report(address(1))))
        for value in [nil, "something-else"] {
            let isAsked = reader.isAsked(byHeader: value)
            #expect(!isAsked)
        }
        #expect(reader.report(address(1)) == nil)
        let isAsked = reader.isAsked(byHeader: "push-to-start-token")
        #expect(isAsked)
        #expect(reader.report(address(1)) != nil)
    }

    @Test func `a report of the device names what has changed and nothing else`() throws {
        #expect(try text(patch { _ in }) == "PUT /v1/devices/d1 {}")
        #expect(try text(patch { $0.user = .null }) == #"PUT /v1/devices/d1 {"user":null}"#)
        let all = patch {
            $0.user = .value("u")
            $0.pushToStart = .value(PushAddress(token: [1], gateway: .production))
            $0.osVersion = OSVersion(major: 26, minor: 5)
            $0.appVersion = "1.2"
            $0.zone = Zone(name: "Europe/Berlin", fixedOffsetSeconds: 3600)
            if let hours = QuietHours(fromMinute: 22 * 60 + 5, toMinute: 7 * 60) { $0.quietHours = .value(hours) }
            $0.spoilerFree = true
            $0.sound = false
            $0.frequentUpdates = true
            $0.personalisation = .readable(
                Taste(teams: ["Boston": 1], leagues: ["NBA": 2.5], minimumWorth: 60, maxGames: 4))
        }
        #expect(
            try text(all)
                == #"PUT /v1/devices/d1 {"appVersion":"1.2","frequentUpdates":true,"gateway":"production","osVersion":"26.5","personalisation":{"leagues":{"NBA":2.5},"maxGames":4,"minimumWorth":60,"teams":{"Boston":1},"version":1},"pushToStartToken":"01","quietHours":{"from":"22:05","to":"07:00"},"sound":false,"spoilerFree":true,"timeZone":"Europe/Berlin","user":"u"}"#
        )
        #expect(
            try text(patch { $0.quietHours = .null }) == #"PUT /v1/devices/d1 {"quietHours":null}"#)
        var signedIn = DevicePatch()
        signedIn.user = .value("u")
        #expect(
            try text(.device(signedIn, app: AppID(unchecked: "lineup")))
                == #"PUT /v1/devices/d1 {"app":"lineup","user":"u"}"#)
    }

    @Test func `the selection, a card's token and what became of a card are the bodies of their calls`() throws {
        let game = GameID(unchecked: "g1")
        #expect(
            try text(
                .selection(
                    games: [game, GameID(unchecked: "g2")], pinned: game, muted: [],
                    syncedAt: tenPM.advanced(bySeconds: 0.5)))
                == #"PUT /v1/devices/d1/selection {"games":["g1","g2"],"muted":[],"pinned":"g1","syncedAt":1794693600.5}"#
        )
        #expect(
            try text(.selection(games: [], pinned: nil, muted: [game], syncedAt: tenPM))
                == #"PUT /v1/devices/d1/selection {"games":[],"muted":["g1"],"pinned":null,"syncedAt":1794693600}"#)
        let id = ActivityID(unchecked: "A-1")
        let token = CardToken(
            key: .slate, activity: id, address: PushAddress(token: [0xFF], gateway: .sandbox), startedBy: .app,
            began: nil)
        #expect(
            try text(.cardToken(token))
                == #"PUT /v1/devices/d1/cards/slate {"activity":"A-1","gateway":"sandbox","startedBy":"app","updateToken":"ff"}"#
        )
        let begun = CardToken(
            key: CardKey(unchecked: "sleep-7"), activity: id, address: PushAddress(token: [0xFF], gateway: .production),
            startedBy: .push, began: tenPM)
        #expect(
            try text(.cardToken(begun))
                == #"PUT /v1/devices/d1/cards/sleep-7 {"activity":"A-1","began":1794693600,"gateway":"production","startedBy":"push","updateToken":"ff"}"#
        )
        for kind in CardReport.Kind.allCases {
            #expect(
                try text(.card(CardReport(key: .slate, kind: kind, activity: id, at: tenPM)))
                    == #"POST /v1/devices/d1/cards/slate/reports {"activity":"A-1","at":1794693600,"report":"\#(kind.rawValue)"}"#
            )
        }
    }
}

@Suite struct RealtimeRecordTests {
    @Test func `C5: a key left out keeps the value held, null clears it, anything else replaces it whole`() {
        var record = RealtimeRecord([
            "home": .integer(3), "away": .integer(2), "detail": .object(["outs": .integer(1), "inning": .integer(9)]),
        ])
        #expect(record.apply(.object(["home": .integer(4)])) == ["home"])
        #expect(record["home"] == .integer(4) && record["away"] == .integer(2) && record["detail"] != nil)
        #expect(record.apply(.object(["away": .null, "home": .integer(4)])) == ["away"])
        #expect(record["away"] == nil && record.fields.keys.sorted() == ["detail", "home"])
        #expect(record.apply(.object(["detail": .object(["outs": .integer(2)])])) == ["detail"])
        #expect(record["detail"] == .object(["outs": .integer(2)]))
        #expect(record.apply(.object(["away": .null])) == [])
    }

    @Test(arguments: [JSONValue.null, .array([]), .string("x"), .object([JSONValue.Member]())])
    func `C5: a change that names nothing changes nothing`(change: JSONValue) {
        var record = RealtimeRecord(["home": .integer(3)])
        #expect(record.apply(change) == [] && record["home"] == .integer(3))
    }

    @Test func `C5: absent, null and value differ, also through a decoder`() throws {
        struct Change: Decodable, Equatable {
            enum Key: CodingKey { case home, away, clock }
            let home: Patched<Int>
            let away: Patched<Int>
            let clock: Patched<String>
            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: Key.self)
                home = try fields.decodePatched(forKey: .home)
                away = try fields.decodePatched(forKey: .away)
                clock = try fields.decodePatched(forKey: .clock)
            }
        }
        let change = try JSONDecoder().decode(Change.self, from: Data(#"{"home":4,"away":null}"#.utf8))
        #expect(change.home == .value(4) && change.away == .null && change.clock == .absent)
        #expect(change.home.applied(to: 3) == 4)
        #expect(change.away.applied(to: 2) == nil)
        #expect(change.clock.applied(to: "2:00") == "2:00")
    }

    @Test func `C6: with the tuning that the server sends the app chooses the front that the server chooses`() throws {
        var tuning = Tuning()
        tuning.takeover.marginPoints = 3
        let sent = try JSONDecoder().decode(Tuning.self, from: JSONEncoder().encode(tuning))
        let contenders = [
            Contender(game: GameID(unchecked: "g1"), base: 70, lift: 0, phase: .live),
            Contender(game: GameID(unchecked: "g2"), base: 74, lift: 0, phase: .live),
        ]
        let front = Front(game: GameID(unchecked: "g1"), since: tenPM.advanced(bySeconds: -300))
        for (values, game) in [(Tuning(), "g1"), (tuning, "g2"), (sent, "g2")] {
            let choice = chooseFront(
                among: contenders, front: front, hold: TakeoverHold(), at: tenPM, tuning: values.takeover)
            #expect(choice.front?.game.text == game)
        }
    }
}
