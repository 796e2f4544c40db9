import CardRules
import Foundation
import PushWire
import Testing

/// Exact bytes, reviewed like code. `LANEKEEPER_GOLDEN=write` rewrites them.
@Suite struct GoldenPayloadTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Golden")

    private static let slate = snapshot([
        .sample(
            "nba-1", home: "Montréal", away: "São Paulo 🏀",
            detail: .object(["fouls": .array([.integer(3), .number(4.5)])]),
            moments: [.closeFinish]),
        .sample(
            "mlb-1", home: "Boston", away: "New York", sport: .baseball, phase: .final, homeScore: 3, awayScore: 2,
            beyond: true),
        .sample("ten-1", home: "A. \"Ace\" One", away: "B. Two", sport: .other("tennis"), phase: .pre),
    ])
    private static let games = ["nba-1", "mlb-1", "ten-1"]
    private static let localized = AppProfile(
        id: lineup.id, bundleID: lineup.bundleID, slateAttributesType: lineup.slateAttributesType,
        texts: AlertTexts(
            slateTitle: .localized(key: "SLATE_TITLE", args: ["{away}", "{home}"]),
            slateBody: .localized(key: "SLATE_BODY", args: [])))

    @Test(arguments: [
        ("start", lineup, order(games, .start(withSound: false))),
        ("start-sound", lineup, order(games, .start(withSound: true))),
        ("start-localized", localized, order(games, .start(withSound: false))),
        ("start-spoiler-free", lineup, order(games, .start(withSound: false), spoilerFree: true)),
        ("update", lineup, order(games, .update(staleDate: 1_795_039_801))),
        ("update-spoiler-free", lineup, order(games, .update(staleDate: nil), spoilerFree: true, relevance: 80)),
        ("end", lineup, order(games, .end(dismissalDate: 1_795_039_201), relevance: nil)),
        ("end-without-content", lineup, order(["gone"], .end(dismissalDate: 1_795_039_201), relevance: nil)),
    ])
    func `P1-P11: the payload is these bytes`(name: String, profile: AppProfile, order: PushOrder) throws {
        var renderer = PayloadRenderer(profile: profile)
        let payload = try #require(renderer.request(for: order, snapshot: Self.slate, id: someID)?.payload)
        let file = Self.folder.appending(path: "\(name).json")
        if ProcessInfo.processInfo.environment["LANEKEEPER_GOLDEN"] == "write" {
            try Data(payload + [UInt8(ascii: "\n")]).write(to: file)
        }
        let golden = try Data(contentsOf: file)
        #expect(String(decoding: golden, as: UTF8.self) == String(decoding: payload, as: UTF8.self) + "\n")
    }
}
