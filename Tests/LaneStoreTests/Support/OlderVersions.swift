import CardRules
import Foundation
import Testing

@testable import LaneStore

private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Golden")

/// Golden bytes as hex. `LANEKEEPER_GOLDEN=write` rewrites those that the program still writes itself.
func golden(_ name: String, writing bytes: [UInt8]? = nil) throws -> [UInt8] {
    let file = folder.appending(path: name)
    if let bytes, ProcessInfo.processInfo.environment["LANEKEEPER_GOLDEN"] == "write" {
        try Data((hexText(bytes) + "\n").utf8).write(to: file)
    }
    let text = try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    let found = CardRules.bytes(fromHex: text)
    return try #require(found)
}

/// `recordOfVersion1` as the program wrote it when records had no sessions.
func goldenRecord1() throws -> [UInt8] { try golden("record-v1.hex") }

/// One entry, "quiet hours", as version 1 of the timeline had it.
func timelineOfVersion1() -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
    writer.list([0]) { writer, _ in
        writer.time(tenPM)
        writer.optional(CardKey.slate) { $0.id($1) }
        writer.text("withheld")
        writer.text(Optional("S5"))
        writer.text("quiet hours")
        writer.bool(false)
        writer.bool(false)
        writer.bool(false)
    }
    return writer.bytes
}

/// The same, as version 2 had it: without what a probe has come to.
func timelineOfVersion2() -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(2)
    writer.list([0]) { writer, _ in
        writer.time(tenPM)
        writer.optional(CardKey.slate) { $0.id($1) }
        writer.text("withheld")
        writer.text(Optional("S5"))
        writer.text("quiet hours")
        writer.text(Optional("it is morning"))
        writer.bool(false)
        writer.bool(false)
        writer.bool(false)
    }
    return writer.bytes
}

/// Everything that a record of version 1 could hold.
let recordOfVersion1: LaneRecord = {
    func id<ID: TextIdentifier>(_ text: String) -> ID { ID(unchecked: text) }
    var ledger = NightLedger(from: tenPM, to: tenPM.advanced(bySeconds: 86_400))
    ledger.claims = 3
    var slate = NightLedger.KeyLedger(key: .slate)
    slate.sent = 2
    slate.accepted = 2
    slate.acknowledged = 1
    slate.lastAcceptedAt = tenPM.advanced(bySeconds: 60)
    ledger.keys = [slate]
    ledger.withheld = [NightLedger.Withheld(rule: .s5, count: 3)]
    ledger.joined = [id("g1"), id("g2")]
    ledger.handedOver = [id("old")]
    ledger.unprovenNights = 1
    ledger.hasSignOfLife = true
    var card = Card(key: .slate, state: .confirmed, startedBy: .push)
    card.claimedAt = tenPM
    card.ageBegan = tenPM.advanced(bySeconds: 1)
    card.activity = id("A1")
    card.updateAddress = PushAddress(token: [1, 2, 3], gateway: .sandbox)
    card.tokenReportedAt = tenPM.advanced(bySeconds: 2)
    card.front = Front(
        game: id("g1"), since: tenPM, wonByLift: true, bench: [Front.Benched(game: id("g2"), at: tenPM)],
        changes: [tenPM])
    card.finalGames = [id("g1")]
    var record = LaneRecord(device: id("d1"), app: id("lineup"), ledger: ledger)
    record.settings.user = "owner"
    record.settings.osVersion = OSVersion(major: 18, minor: 1)
    record.settings.appVersion = "3.2"
    record.settings.timeZone = "Europe/Berlin"
    record.settings.quietHours = QuietHours(fromMinute: 1320, toMinute: 420)
    record.settings.spoilerFree = true
    record.settings.sound = true
    record.settings.personalisation = .readable(
        Taste(teams: ["Boston": 0.5], leagues: ["NHL": 2], minimumWorth: 60, maxGames: 3))
    record.pushToStart = PushToStart(
        address: PushAddress(token: [9, 8], gateway: .production), reportedAt: tenPM, noneReportedAt: tenPM,
        ownership: .superseded(
            by: id("d2"),
            owed: Handover(
                ledger: ledger, cards: [card], members: [id("g1")], endedActivities: [id("A0")],
                marks: [SentMark(key: .slate, fingerprint: 77, front: id("g1"), timestamp: 1_795_039_201)])))
    record.selection = Selection(
        games: [id("g1"), id("g2")], pinned: id("g2"), muted: [id("g3")], syncedAt: tenPM, arrivedAt: tenPM)
    record.members = [id("g1")]
    record.deferred = DeferredStart(games: [id("g1")], rule: .s10, until: tenPM.advanced(bySeconds: 600))
    record.cards = [card]
    record.endedActivities = [id("A0")]
    record.owedEnds = [
        OwedEnd(
            key: .slate, activity: id("A2"), address: PushAddress(token: [4], gateway: .production),
            limit: tenPM.advanced(bySeconds: 28_800), games: [id("g1")])
    ]
    return record
}()
