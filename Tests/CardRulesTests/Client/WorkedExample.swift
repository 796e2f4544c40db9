import CardRules
import Foundation
import Testing

// The first block of code in the article OnThePhone, compiled. The test below holds both together.

/// What the app keeps for its cards: one value, on the main actor.
@MainActor
struct Cards {
    /// Decoded from the app's container at launch, encoded into it after each change.
    var memory = ClientMemory()
    var reader = PushToStartReader()
    let device: DeviceID
    /// Sandbox in debug builds, production in TestFlight and the App Store.
    let gateway: Gateway

    /// At launch, also in the background; on every new activity and change of one; when the app comes to the front.
    mutating func look(at activities: [ClientActivity], isForeground: Bool, now: Date) -> [ClientAction] {
        memory.recover(activities, isForeground: isForeground, at: wallTime(now))
    }

    /// Every reading of the property and every value of the sequence. `nil`: nothing new to tell.
    func heard(pushToStartToken token: Data?) -> ClientReport? {
        reader.report(address(token))
    }

    /// After any answer with 2xx.
    mutating func delivered(_ report: ClientReport) {
        memory.delivered(report)
        reader.delivered(report)
    }

    /// The body of its call; method and path are the call's own.
    func body(of report: ClientReport) throws -> Data {
        try JSONEncoder().encode(report.call(of: device).body)
    }

    /// After the selection was answered at `answeredAt`: may the app start tonight's card itself?
    func mayStartSlate(
        beside activities: [ClientActivity], selectionAnsweredAt answeredAt: Date, zone: Zone, isForeground: Bool,
        now: Date
    ) -> Bool {
        let time = wallTime(now)
        let night = NightSpan(containing: time, in: zone, rollsAtMinute: Tuning().night.rollsAtMinute)
        do {
            try memory.mayStartCard(
                under: .slate, beside: activities, claim: .selection(answeredAt: wallTime(answeredAt)),
                isForeground: isForeground, isAsked: false, night: night, at: time)
            return true
        } catch {
            return false  // error.rule and error.text say why
        }
    }

    func address(_ token: Data?) -> PushAddress? {
        token.map { PushAddress(token: Array($0), gateway: gateway) }
    }

    func wallTime(_ date: Date) -> WallTime { WallTime(fractionalSeconds: date.timeIntervalSince1970) }
}

// The end of the block.

@Suite struct WorkedExampleTests {
    private static let here = URL(filePath: #filePath)
    private static let article = here.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/CardRules/CardRules.docc/OnThePhone.md")

    @Test func `C1-C6: the article's example is the one that is compiled here`() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```swift\n").dropFirst().first)
        let example = try #require(block.components(separatedBy: "\n```").first)
        let source = try String(contentsOf: Self.here, encoding: .utf8)
        #expect(source.contains("\n\(example)\n\n// The end of the block."))
        #expect(example.contains("struct Cards"))
    }

    @MainActor @Test func `C1-C6: the article's example does what the article says`() throws {
        var cards = Cards(device: DeviceID(unchecked: "d1"), gateway: .sandbox)
        let now = Date(timeIntervalSince1970: 1_794_693_600)
        let none = try #require(cards.heard(pushToStartToken: nil))
        #expect(String(decoding: try cards.body(of: none), as: UTF8.self) == #"{"pushToStartToken":null}"#)
        cards.delivered(none)
        #expect(cards.heard(pushToStartToken: nil) == nil)
        #expect(cards.heard(pushToStartToken: Data([1, 2])) != nil)
        let found = [activity("old", began: tenPM.advanced(bySeconds: -60)), activity("new", .stale, began: tenPM)]
        #expect(cards.look(at: found, isForeground: false, now: now).ends == [])
        #expect(cards.look(at: found, isForeground: true, now: now).ends == ["old"])
        for (activities, isForeground, may) in [([], true, true), (found, true, false), ([], false, false)] {
            #expect(
                cards.mayStartSlate(
                    beside: activities, selectionAnsweredAt: now, zone: .utc, isForeground: isForeground, now: now)
                    == may)
        }
    }
}
