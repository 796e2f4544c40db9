import CardRules
import Foundation
import PushWire
import Testing

@Suite struct PayloadRendererTests {
    private let renderer = KeptRenderer(profile: lineup)

    @Test func `P1: a start has an alert, the token input, empty attributes, and no stale-date`() throws {
        let slate = snapshot([.sample("g1")])
        let request = try #require(
            renderer.request(for: order(["g1"], .start(withSound: false)), snapshot: slate, id: someID))
        let aps = try aps(request.payload)
        let alert = try #require(aps["alert"] as? [String: Any])
        #expect(alert["title"] as? String == "New York at Boston")
        #expect(alert["body"] as? String == "Worth watching now")
        #expect(alert["sound"] == nil)
        #expect(aps["input-push-token"] as? Int == 1)
        #expect(aps["attributes-type"] as? String == "LineupAttributes")
        #expect((aps["attributes"] as? [String: Any])?.isEmpty == true)
        #expect(aps["stale-date"] == nil)
        #expect(aps["event"] as? String == "start")
        #expect(aps["timestamp"] as? Int == 1_795_039_201)
        #expect(request.topic == "com.example.lineup.push-type.liveactivity")
    }

    @Test func `P1: sound only where the order asks for it`() throws {
        let request = renderer.request(
            for: order(["g1"], .start(withSound: true)), snapshot: snapshot([.sample("g1")]), id: someID)
        #expect((try aps(request?.payload ?? [])["alert"] as? [String: Any])?["sound"] as? String == "default")
    }

    @Test func `P1: teams without a name do not make a start without a text`() throws {
        let slate = snapshot([.sample("g1", home: "", away: " ")])
        let bare = AppProfile(
            id: lineup.id, bundleID: "b", slateAttributesType: "A",
            texts: AlertTexts(slateTitle: .plain("{home}{away}")))
        let renderer = KeptRenderer(profile: bare)
        let request = renderer.request(for: order(["g1"], .start(withSound: false)), snapshot: slate, id: someID)
        #expect((try aps(request?.payload ?? [])["alert"] as? [String: Any])?["title"] as? String == "g1")
    }

    @Test func `P2: the alert of a spoiler-free start is the same whatever the scores`() {
        var other = RankedGame.sample("g1", homeScore: 0, awayScore: 77, moments: [.overtime])
        other.lift = 25
        let start = order(["g1"], .start(withSound: false), spoilerFree: true)
        let one = renderer.request(for: start, snapshot: snapshot([.sample("g1")]), id: someID)
        let two = renderer.request(for: start, snapshot: snapshot([other], version: 2), id: someID)
        #expect(one != nil && one == two)
    }

    @Test func `P4, P7, E1: stale-date, relevance-score and dismissal-date stand where they belong`() throws {
        let slate = snapshot([.sample("g1")])
        let update = renderer.request(
            for: order(["g1"], .update(staleDate: 1_795_039_800)), snapshot: slate, id: someID)
        let updated = try aps(update?.payload ?? [])
        #expect(updated["stale-date"] as? Int == 1_795_039_800 && updated["relevance-score"] as? Double == 87.5)
        #expect(updated["alert"] == nil && updated["input-push-token"] == nil)
        let quiet = renderer.request(for: order(["g1"], .update(staleDate: nil)), snapshot: slate, id: someID)
        #expect(try aps(quiet?.payload ?? [])["stale-date"] == nil)
        let end = renderer.request(
            for: order(["g1"], .end(dismissalDate: 1_795_039_200), relevance: nil), snapshot: slate, id: someID)
        let ended = try aps(end?.payload ?? [])
        #expect(ended["dismissal-date"] as? Int == 1_795_039_200 && ended["relevance-score"] == nil)
        #expect(ended["content-state"] != nil)
    }

    @Test func `E1: an end whose games have left the slate still goes, without content; others do not`() throws {
        let end = renderer.request(
            for: order(["g9"], .end(dismissalDate: 5), relevance: nil), snapshot: snapshot([]), id: someID)
        #expect(
            end.map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"aps":{"dismissal-date":5,"event":"end","timestamp":1795039201}}"#)
        #expect(
            renderer.request(for: order(["g9"], .update(staleDate: nil)), snapshot: snapshot([]), id: someID) == nil)
        #expect(
            renderer.request(for: order(["g9"], .start(withSound: true)), snapshot: snapshot([]), id: someID) == nil)
    }

    @Test func `P9: equal pushes share one payload, a new snapshot version renders anew`() throws {
        let slate = snapshot([.sample("g1"), .sample("g2")])
        let update = order(["g1", "g2"], .update(staleDate: 9))
        let one = try #require(renderer.request(for: update, snapshot: slate, id: someID))
        let two = try #require(renderer.request(for: update, snapshot: slate.copy(), id: someID))
        #expect(address(of: one.payload) == address(of: two.payload))
        let later = try #require(
            renderer.request(
                for: order(["g1", "g2"], .update(staleDate: 9), timestamp: 1_795_039_999), snapshot: slate, id: someID))
        #expect(later.payload != one.payload)
        let changed = try #require(
            renderer.request(
                for: update, snapshot: snapshot([.sample("g1", homeScore: 99), .sample("g2")], version: 2), id: someID))
        #expect(changed.payload != one.payload)
    }

    @Test func `P9: more distinct payloads than are kept still come out right`() throws {
        let slate = snapshot([.sample("g1")])
        var wrong = 0
        for second in Int64(0)..<9000 {
            let update = order(["g1"], .update(staleDate: nil), timestamp: second)
            let payload = renderer.request(for: update, snapshot: slate, id: someID)?.payload ?? []
            if !payload.reversed().starts(with: "\"timestamp\":\(second)}}".utf8.reversed()) { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func `Too many bytes, though not too many characters: games go from the tail, the front stays`()
        throws
    {
        let names = (0..<40).map { $0 < 12 ? "São Paulo 🏆\($0)" : "Springfield \($0)" }
        let games = names.enumerated().map { RankedGame.sample("game-\($0)", home: $1, away: "Visitors of \($1)") }
        let slate = snapshot(games)
        let kinds: [PushOrder.Kind] = [
            .start(withSound: true), .update(staleDate: 1_795_039_800), .end(dismissalDate: 1),
        ]
        for kind in kinds {
            let request = try #require(
                renderer.request(for: order(games.map(\.id.text), kind), snapshot: slate, id: someID))
            #expect(request.payload.count <= 4096)
            let content = try aps(request.payload)["content-state"] as? [String: Any]
            let shown = (content?["games"] as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? []
            #expect(shown.count > 5 && shown == games.prefix(shown.count).map(\.id.text))
            #expect(content?["front"] as? String == "game-0")
            // One game more would not have fitted.
            let next = ContentBytes(
                SlateContent(
                    games: [.init(games[shown.count], spoilerFree: false)], front: games[0].id, spoilerFree: false,
                    asOf: 0))
            #expect(request.payload.count + next.full.count > 4096)
        }
    }

    @Test(arguments: -30...30) func `P8: 4,096 bytes pass, 4,097 do not, counted in bytes`(offset: Int) throws {
        let plain = order(["g1", "g2"], .update(staleDate: nil))
        let base = try #require(
            renderer.request(for: plain, snapshot: snapshot([.sample("g1"), .sample("g2", home: "")]), id: someID)?
                .payload.count)
        let fill = 4096 - base + offset
        let slate = snapshot([.sample("g1"), .sample("g2", home: String(repeating: "x", count: fill))], version: 2)
        let payload = try #require(renderer.request(for: plain, snapshot: slate, id: someID)?.payload)
        let games = (try aps(payload)["content-state"] as? [String: Any])?["games"] as? [Any]
        #expect(games?.count == (offset <= 0 ? 2 : 1))
        #expect(offset > 0 || payload.count == 4096 + offset)
    }

    @Test func `P8: a front too big by itself loses its detail; without one nothing but an end goes`() throws {
        let bulky = RankedGame.sample("g1", detail: .string(String(repeating: "é", count: 3000)))
        let update = renderer.request(
            for: order(["g1", "g2"], .update(staleDate: nil)), snapshot: snapshot([bulky, .sample("g2")]), id: someID)
        let content = try aps(update?.payload ?? [])["content-state"] as? [String: Any]
        #expect((content?["games"] as? [[String: Any]])?.map { $0["detail"] == nil } == [true])
        let hopeless = snapshot([.sample("g1", home: String(repeating: "x", count: 5000))], version: 2)
        #expect(renderer.request(for: order(["g1"], .start(withSound: false)), snapshot: hopeless, id: someID) == nil)
        let end = renderer.request(for: order(["g1"], .end(dismissalDate: 1)), snapshot: hopeless, id: someID)
        #expect(try aps(end?.payload ?? [])["event"] as? String == "end")
    }

    @Test func `P10: only starts carry a collapse id; a long card key makes one of 64 bytes of its own`()
        throws
    {
        let slate = snapshot([.sample("g1")])
        func collapse(_ key: String, _ kind: PushOrder.Kind = .start(withSound: false)) -> String? {
            renderer.request(for: order(["g1"], kind, key: CardKey(unchecked: key)), snapshot: slate, id: someID)?
                .collapseID
        }
        #expect(collapse("slate") == "slate")
        #expect(collapse("slate", .update(staleDate: nil)) == nil)
        #expect(collapse("slate", .end(dismissalDate: 0)) == nil)
        let long = String(repeating: "k", count: 127)
        #expect(collapse(String(repeating: "k", count: 64)) == String(repeating: "k", count: 64))
        #expect(collapse(long + "a")?.utf8.count == 64)
        #expect(collapse(long + "a") != collapse(long + "b"))
    }

    @Test func `a team called {away} stays what it is, and an unknown placeholder is a fault`() throws {
        let slate = snapshot([.sample("g1", home: "{away}", away: "{home}")])
        let request = renderer.request(for: order(["g1"], .start(withSound: false)), snapshot: slate, id: someID)
        #expect((try aps(request?.payload ?? [])["alert"] as? [String: Any])?["title"] as? String == "{home} at {away}")
        #expect(AlertText.plain("{homeScore}").fault != nil)
        #expect(AlertText.plain(" ").fault != nil)
        #expect(AlertText.localized(key: "K", args: ["{home}", "{x}"]).fault != nil)
        #expect(AlertText.localized(key: "K", args: ["{home}"]).fault == nil)
    }
}
