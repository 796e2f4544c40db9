import CardRules
import Foundation
import PushWire

/// SplitMix64: the same seed gives the same numbers everywhere.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// The seeds of random tests, or the one in LANEKEEPER_SEED.
let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["LANEKEEPER_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(0..<64)

let tenPM = WallTime(seconds: Int64(1_795_039_200))

extension RankedGame {
    static func sample(
        _ id: String, home: String = "Boston", away: String = "New York", sport: Sport = .basketball,
        phase: Phase = .live, homeScore: Int = 98, awayScore: Int = 101, detail: JSONValue? = nil,
        moments: [MomentKind] = [], beyond: Bool = false
    ) -> RankedGame {
        RankedGame(
            id: GameID(unchecked: id), sport: sport, league: "NBA", home: home, away: away, phase: phase,
            period: beyond ? 5 : 4, clock: "2:31", homeScore: homeScore, awayScore: awayScore, detail: detail,
            worth: 80,
            moments: moments, isBeyondRegulation: beyond)
    }
}

func snapshot(_ games: [RankedGame], version: UInt64 = 1, asOf: WallTime = tenPM) -> SlateSnapshot {
    SlateSnapshot(version: version, roster: 1, asOf: asOf, games: games)
}

let lineup = AppProfile(
    id: AppID(unchecked: "lineup"), bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")

func order(
    _ games: [String], _ kind: PushOrder.Kind, spoilerFree: Bool = false, key: CardKey = .slate,
    timestamp: Int64 = 1_795_039_201, relevance: Double? = 87.5, token: [UInt8] = [0xa1, 0x0b]
) -> PushOrder {
    PushOrder(
        number: PushNumber(1), key: key, address: PushAddress(token: token, gateway: .production), priority: .immediate,
        timestamp: timestamp, expiration: timestamp + 600, relevance: relevance,
        content: SlateArrangement(games: games.map { GameID(unchecked: $0) }, spoilerFree: spoilerFree), kind: kind)
}

let someID = ApnsID(randomHigh: 0x0123_4567_89ab_cdef, randomLow: 0xfedc_ba98_7654_3210)

/// A payload read back: its `aps` as Foundation sees it.
func aps(_ payload: [UInt8]) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
    return object?["aps"] as? [String: Any] ?? [:]
}

func address(of bytes: [UInt8]) -> UInt { bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }

/// A renderer that a test's expressions can use, for macros take no mutating call.
final class KeptRenderer {
    private var renderer: PayloadRenderer
    init(profile: AppProfile) { renderer = PayloadRenderer(profile: profile) }
    func request(for order: PushOrder, snapshot: SlateSnapshot, id: ApnsID) -> PushRequest? {
        renderer.request(for: order, snapshot: snapshot, id: id)
    }
}
