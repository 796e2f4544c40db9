import CardRules
import Foundation
import PushWire
import Testing

@Suite struct ProbePayloadTests {
    private func payload(_ variant: ProbeVariant?, games: [RankedGame], shown: [String] = ["a"]) throws -> [UInt8] {
        var order = order(shown, .start(withSound: true), key: .probe)
        order.probe = variant.map { ProbePush(variant: $0, staleDate: 1_795_039_801) }
        let request = KeptRenderer(profile: lineup).request(for: order, snapshot: snapshot(games), id: someID)
        #expect(request?.event == .start && request?.collapseID == "probe")
        return try #require(request?.payload)
    }

    private let games = [
        RankedGame.sample(
            "a", home: "L\"A, {x}: [\\", detail: .object([JSONValue.Member(key: "alert", value: .string("],}"))]))
    ]

    @Test func `P1: the full variant is the scheduler's payload, byte for byte`() throws {
        #expect(try payload(.full, games: games) == payload(nil, games: games))
    }

    @Test(arguments: ProbeVariant.allCases)
    func `every other variant differs from it in exactly one field`(variant: ProbeVariant) throws {
        let full = try aps(payload(.full, games: games))
        let found = try aps(payload(variant, games: games))
        let names = Set(full.keys).union(found.keys)
        let changed = names.filter {
            !NSDictionary(dictionary: ["v": full[$0] as Any]).isEqual(to: ["v": found[$0] as Any])
        }
        switch variant {
        case .full: #expect(changed.isEmpty)
        case .noAlert: #expect(changed == ["alert"] && found["alert"] == nil)
        case .staleDate: #expect(changed == ["stale-date"] && found["stale-date"] as? Int == 1_795_039_801)
        case .noInputPushToken: #expect(changed == ["input-push-token"] && found["input-push-token"] == nil)
        case .bareContent:
            #expect(changed == ["content-state"])
            let content = try #require(found["content-state"] as? [String: Any])
            #expect(Set(content.keys) == ["asOf", "front", "games", "spoilerFree"])
            #expect((content["games"] as? [Any])?.isEmpty == true && content["front"] as? String == "a")
        }
    }

    @Test(arguments: ProbeVariant.allCases)
    func `a slate without a game is no reason not to probe`(variant: ProbeVariant) throws {
        let found = try aps(payload(variant, games: [], shown: []))
        #expect(found["event"] as? String == "start")
        let alert = found["alert"] as? [String: Any]
        #expect(variant == .noAlert ? alert == nil : alert?["title"] as? String == "no away side at no home side")
        #expect((found["content-state"] as? [String: Any])?["games"] as? [String] == [])
    }

    @Test func `P8: a variant that would pass the limit is not sent`() throws {
        let text = String(repeating: "x", count: 3_680)
        for length in stride(from: 0, through: 200, by: 1) {
            let large = [RankedGame.sample("a", detail: .string(text + String(repeating: "y", count: length)))]
            var order = order(["a"], .start(withSound: true), key: .probe)
            order.probe = ProbePush(variant: .staleDate, staleDate: 1_795_039_801)
            let request = KeptRenderer(profile: lineup).request(for: order, snapshot: snapshot(large), id: someID)
            #expect(request.map { $0.payload.count <= 4096 } ?? true)
        }
    }
}
