import CardRules
import Foundation
import Lanes
import Simulation

/// Phones as the store has them in the middle of an evening, each from its number and a seed: so many games chosen, half of
/// them or more with a card, tokens of 80 bytes, ids of 36 characters.
struct MadeUpPhones: Sendable {
    static let app = AppID(unchecked: "lineup")
    static let zones = ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"]

    let seed: UInt64
    /// Of all phones, those with a card: 0...1.
    let withCard: Double
    /// How old a card is at the evening's beginning.
    let cardAgeSeconds: Double
    let games: [GameID]
    private let zone: @Sendable (String) -> Zone
    private let nights: [NightSpan]
    /// Upper bounds of the games' shares, rising to 1.
    private let bounds: [Double]

    init(
        seed: UInt64, withCard: Double = 0.6, cardAgeSeconds: Double = 1800, games: [GameID],
        zone: @escaping @Sendable (String) -> Zone
    ) {
        self.seed = seed
        self.withCard = withCard
        self.cardAgeSeconds = cardAgeSeconds
        self.games = games
        self.zone = zone
        nights = MadeUpPhones.zones.map {
            NightSpan(containing: MadeUpSlate.evening, in: zone($0), rollsAtMinute: Tuning().night.rollsAtMinute)
        }
        // Zipf's law, softened: the best liked game has ten times the followers of the least.
        let weights = games.indices.map { 1 / pow(Double($0 + 1), 0.8) }
        let sum = weights.reduce(0, +)
        var total = 0.0
        bounds = weights.map { weight in
            total += weight / sum
            return total
        }
    }

    func device(_ number: Int) -> DeviceID {
        var random = generator(number)
        return DeviceID(unchecked: random.uuidText())
    }

    /// Five to eight, no game twice.
    func followed(_ number: Int) -> [Int] {
        var random = generator(number ^ 0x5bd1_e995)
        let wanted = Int.random(in: 5...8, using: &random)
        var chosen: [Int] = []
        while chosen.count < wanted {
            let point = Double.random(in: 0..<1, using: &random)
            let game = bounds.firstIndex { point < $0 } ?? 0
            if !chosen.contains(game) { chosen.append(game) }
        }
        return chosen
    }

    func hasCard(_ number: Int) -> Bool {
        var random = generator(number ^ 0x1234_5678)
        return random.chance(withCard)
    }

    func zoneName(_ number: Int) -> String { MadeUpPhones.zones[number % MadeUpPhones.zones.count] }

    func record(_ number: Int) -> LaneRecord {
        var random = generator(number)
        let evening = MadeUpSlate.evening
        let device = DeviceID(unchecked: random.uuidText())
        let night = nights[number % nights.count]
        var ledger = NightLedger(from: night.from, to: night.to)
        let followed = followed(number)
        // Made anew each time, as reading a row makes them: nothing is shared between phones, nor within one.
        let chosen = { followed.map { GameID(unchecked: MadeUpPhones.anew(games[$0].text)) } }
        ledger.joined = chosen()
        ledger.claims = 1
        ledger[.slate].sent = 1
        ledger[.slate].accepted = 1
        ledger[.slate].acknowledged = 1
        ledger[.slate].lastAcceptedAt = evening.advanced(bySeconds: -1800)
        ledger.hasSignOfLife = true
        let hasCard = hasCard(number)
        // Its owner has swept it away: the phone keeps its games, and nothing more starts tonight (S9).
        ledger[.slate].isDismissed = !hasCard
        var record = LaneRecord(device: device, app: MadeUpPhones.app, ledger: ledger)
        record.settings.user = random.uuidText()
        record.settings.osVersion = OSVersion(major: 18, minor: 1)
        record.settings.appVersion = "5.2.1"
        record.settings.timeZone = MadeUpPhones.anew(zoneName(number))
        record.settings.frequentUpdates = random.chance(0.2)
        record.settings.sound = random.chance(0.5)
        record.pushToStart = PushToStart(
            address: PushAddress(token: random.bytes(80), gateway: .production),
            reportedAt: evening.advanced(bySeconds: -7200), ownership: .owner)
        let chosenAt = evening.advanced(bySeconds: -3600)
        record.selection = Selection(games: chosen(), pinned: nil, muted: [], syncedAt: chosenAt, arrivedAt: chosenAt)
        record.members = chosen()
        if hasCard {
            var card = Card(key: .slate, state: .confirmed, startedBy: .push)
            let began = evening.advanced(bySeconds: -cardAgeSeconds)
            card.claimedAt = began.advanced(bySeconds: -1)
            card.ageBegan = began
            card.activity = ActivityID(unchecked: random.uuidText(upperCase: true))
            card.updateAddress = PushAddress(token: random.bytes(80), gateway: .production)
            card.tokenReportedAt = began.advanced(bySeconds: 5)
            card.front = Front(game: chosen()[0], since: began)
            record.cards = [card]
        }
        return record
    }

    /// The phone before its evening: games chosen, none of them under way, no card.
    func freshRecord(_ number: Int) -> LaneRecord {
        var record = record(number)
        let night = nights[number % nights.count]
        record.ledger = NightLedger(from: night.from, to: night.to)
        record.members = []
        record.cards = []
        return record
    }

    /// The lane of a phone, as its shard restores it.
    func state(_ number: Int) -> LaneState {
        LaneState(restoring: record(number), zone: zone(zoneName(number)), timestampFloor: 0)
    }

    private static func anew(_ text: String) -> String { String(decoding: Array(text.utf8), as: UTF8.self) }

    private func generator(_ number: Int) -> SeededGenerator {
        SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15)
    }
}
