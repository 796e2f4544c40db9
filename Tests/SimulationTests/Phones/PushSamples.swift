import CardRules
import Foundation

@testable import Simulation

/// Pushes and phones for tests.
enum Sample {
    static let evening = WallTime(milliseconds: 1_795_046_400_000)
    static let topic = "com.example.lineup.push-type.liveactivity"

    static func game(
        _ id: String, phase: Phase = .live, home: Int? = 1, away: Int? = 0
    ) -> SlateContent.Game {
        SlateContent.Game(
            id: GameID(unchecked: id), sport: "hockey", league: "NHL", home: "Home \(id)", away: "Away \(id)",
            phase: phase, period: 1, clock: "10:00", homeScore: home, awayScore: away)
    }

    static func content(_ games: [SlateContent.Game], spoilerFree: Bool = false, asOf: Int64 = 0) -> SlateContent {
        SlateContent(
            games: games, front: games.first?.id ?? GameID(unchecked: "none"), spoilerFree: spoilerFree, asOf: asOf)
    }

    static func json(_ content: SlateContent) -> String {
        (try? JSONEncoder().encode(content)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    /// A good start, with members of `aps` replaced by JSON text or, with `nil`, left out.
    static func start(
        _ content: SlateContent = content([game("g1")]), timestamp: Int64, change: [String: String?] = [:]
    ) -> [UInt8] {
        aps(
            [
                "event": #""start""#, "timestamp": "\(timestamp)", "content-state": json(content),
                "attributes-type": #""LineupAttributes""#, "attributes": "{}", "input-push-token": "1",
                "alert": #"{"title":"A at B","body":"Worth watching now"}"#,
            ], change)
    }

    static func update(
        _ content: SlateContent = content([game("g1")]), timestamp: Int64, change: [String: String?] = [:]
    ) -> [UInt8] {
        aps(["event": #""update""#, "timestamp": "\(timestamp)", "content-state": json(content)], change)
    }

    static func end(
        _ content: SlateContent = content([game("g1", phase: .final)]), timestamp: Int64,
        change: [String: String?] = [:]
    ) -> [UInt8] {
        aps(
            [
                "event": #""end""#, "timestamp": "\(timestamp)", "content-state": json(content),
                "dismissal-date": "\(timestamp)",
            ], change)
    }

    static func aps(_ members: [String: String], _ change: [String: String?]) -> [UInt8] {
        var members = members
        for (key, value) in change { members[key] = value }
        let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return Array("{\"aps\":{\(text)}}".utf8)
    }

    static func push(_ payload: [UInt8], number: Int = 0, priority: Int = 10, type: String = "liveactivity")
        -> ReceivedPush
    {
        ReceivedPush(
            apnsID: "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - "\(number)".count) + "\(number)",
            pushType: type, topic: topic, priority: priority, payload: payload)
    }

    static func profile(
        osVersion: OSVersion = OSVersion(major: 26, minor: 1), openings: [Double] = [0],
        change: (inout PhoneProfile) -> Void = { _ in }
    ) -> PhoneProfile {
        var profile = PhoneProfile(
            handset: 0, bundleID: "com.example.lineup", osVersion: osVersion, user: "u",
            device: DeviceID(unchecked: "d"),
            openings: openings.map { PhoneProfile.Opening(at: evening.advanced(bySeconds: $0), seconds: 60) })
        change(&profile)
        return profile
    }
}

/// One phone with a gateway's place taken by the test.
struct Handset {
    var phone: Phone
    private var reader = PushReader()
    var output = PhoneOutput()
    var now = Sample.evening
    private var pushes = 0

    init(_ profile: PhoneProfile, options: PhoneOptions = PhoneOptions()) {
        phone = Phone(number: 0, profile: profile, options: options, seed: 7)
    }

    mutating func run(_ seconds: Double) {
        now = Sample.evening.advanced(bySeconds: seconds)
        phone.run(until: now, into: &output)
    }

    mutating func receive(
        _ payload: [UInt8], for target: PushTarget = .pushToStart, at seconds: Double, priority: Int = 10
    ) {
        now = Sample.evening.advanced(bySeconds: seconds)
        pushes += 1
        let push = Sample.push(payload, number: pushes, priority: priority)
        phone.receive(push, read: reader.read(push), for: target, at: now, into: &output)
    }

    var card: PhoneCard? { phone.cards.last }
    var target: PushTarget { card.map { .activity($0.activity) } ?? .pushToStart }
    var drops: [PhoneEvent.Drop] {
        output.events.compactMap { if case .dropped(let drop, _, _, _) = $0.event { drop } else { nil } }
    }
    var reports: [PhoneReport.CardReport] {
        output.reports.compactMap { if case .card(_, let word, _, _) = $0.body { word } else { nil } }
    }
    var tokenReports: [(device: DeviceID, at: WallTime)] {
        output.reports.compactMap { if case .cardToken = $0.body { ($0.device, $0.at) } else { nil } }
    }
    /// Unix seconds of the evening plus so many.
    static func stamp(_ seconds: Int64) -> Int64 { Sample.evening.unixSeconds + seconds }
}
