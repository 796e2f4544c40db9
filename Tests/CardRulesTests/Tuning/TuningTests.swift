import CardRules
import Foundation
import Testing

@Suite struct TuningTests {
    private func decode(_ text: String) throws -> Tuning {
        try JSONDecoder().decode(Tuning.self, from: Data(text.utf8))
    }

    /// Section 12 of the rules, key and default.
    private static let section12: [(String, JSONValue)] = [
        ("night.rollsAt", .string("06:00")), ("starts.unacknowledged", .integer(1)),
        ("starts.acknowledged", .integer(4)),
        ("starts.hardCap", .integer(10)), ("starts.gapSeconds", .integer(600)), ("starts.cardsPerApp", .integer(5)),
        ("starts.unprovenNights", .integer(2)), ("starts.expirationSeconds", .integer(600)),
        ("window.beforeSeconds", .integer(300)), ("window.afterSeconds", .integer(300)),
        ("updates.gapSeconds", .integer(15)),
        ("updates.urgentGapSeconds", .integer(1)), ("updates.urgentPerHour", .integer(12)),
        ("updates.urgentPerHourFrequent", .integer(200)), ("updates.staleSeconds", .integer(600)),
        ("starts.claimedAtOnce", .integer(5000)), ("gateway.tokenMinSeconds", .integer(1200)),
        ("gateway.serverErrorSeconds", .integer(900)), ("authority.selectionHours", .integer(24)),
        ("updates.dirtySeconds", .integer(60)), ("window.stalePreSeconds", .integer(10_800)),
        ("reissue.afterSeconds", .integer(27_900)), ("reissue.spreadSeconds", .integer(120)),
        ("reissue.retrySeconds", .integer(60)), ("life.limitSeconds", .integer(28_800)),
        ("life.endBeforeLimitSeconds", .integer(60)), ("life.acknowledgeSeconds", .integer(600)),
        ("takeover.marginPoints", .integer(8)), ("takeover.settleSeconds", .integer(20)),
        ("takeover.benchSeconds", .integer(90)),
        ("takeover.tailSeconds", .integer(60)), ("takeover.favouriteTeamPoints", .integer(15)),
        ("takeover.boosts.shootout", .integer(30)), ("takeover.boosts.walkOffChance", .integer(28)),
        ("takeover.boosts.overtime", .integer(25)), ("takeover.boosts.closeFinish", .integer(20)),
        ("takeover.boosts.comeback", .integer(15)), ("takeover.boosts.upset", .integer(12)),
        ("authority.syncHoldSeconds", .integer(30)), ("ends.lingerSeconds", .integer(0)),
        ("card.maxGames", .integer(4)),
        ("gateway.probeSeconds", .integer(30)), ("gateway.tokenMaxSeconds", .integer(3000)),
        ("slate.holdUnannouncedSeconds", .integer(600)), ("reissue.perSecond", .integer(200)),
        ("gateway.slowSeconds", .integer(60)), ("gateway.faultsInARow", .integer(5)),
    ]

    private func nested(_ name: String, _ value: JSONValue) -> JSONValue {
        name.split(separator: ".").reversed().reduce(value) { .object([String($1): $0]) }
    }

    @Test(arguments: section12)
    func `section 12: every key is settable and has its default`(name: String, value: JSONValue) throws {
        #expect(try Tuning(nested(name, value)) == Tuning())
        let other: JSONValue = name == "night.rollsAt" ? .string("12:00") : .integer(1201)
        let small: JSONValue = name == "night.rollsAt" ? .string("12:00") : .integer(3)
        let large = Set(["gateway.tokenMinSeconds", "gateway.tokenMaxSeconds"])
        #expect(try Tuning(nested(name, large.contains(name) ? other : small)) != Tuning())
    }

    @Test func `section 12: there is a key for every value of Tuning, and no two are alike`() {
        func leaves(_ value: Any) -> Int {
            let children = Mirror(reflecting: value).children
            return children.isEmpty ? 1 : children.reduce(0) { $0 + leaves($1.value) }
        }
        #expect(TuningKey.all.count == leaves(Tuning()))
        #expect(Set(TuningKey.all.map(\.name)).count == TuningKey.all.count)
    }

    @Test func `section 12: what is encoded decodes to the same`() throws {
        var tuning = Tuning()
        tuning.reissue.afterSeconds = 0.25
        tuning.night.rollsAtMinute = 23 * 60 + 59
        tuning.takeover.boosts.upset = 99
        tuning.worth.hockey.cushionSeconds = 7
        for value in [Tuning(), tuning] {
            #expect(try JSONDecoder().decode(Tuning.self, from: try JSONEncoder().encode(value)) == value)
            #expect(try Tuning(value.json) == value)
        }
    }

    @Test func `section 12: a key left out keeps its default`() throws {
        var expected = Tuning()
        #expect(try decode("{}") == expected)
        expected.reissue.afterSeconds = 20
        expected.takeover.boosts.overtime = 40.5
        expected.night.rollsAtMinute = 250
        #expect(
            try decode(
                #"{"reissue":{"afterSeconds":20},"takeover":{"boosts":{"overtime":40.5}},"night":{"rollsAt":"04:10"}}"#)
                == expected)
    }

    @Test(arguments: [
        (#"{"reissu":{}}"#, TuningFault.unknownKey("reissu")),
        (#"{"reissue":{"afterSecond":1}}"#, .unknownKey("reissue.afterSecond")),
        (#"{"takeover":{"boosts":{"overtim":1}}}"#, .unknownKey("takeover.boosts.overtim")),
    ])
    func `section 12: an unknown key is named`(text: String, fault: TuningFault) {
        #expect(throws: fault) { try decode(text) }
    }

    @Test(arguments: [
        (#"{"reissue":{"afterSeconds":-1}}"#, "reissue.afterSeconds"),
        (#"{"reissue":{"afterSeconds":"20"}}"#, "reissue.afterSeconds"), (#"{"reissue":5}"#, "reissue"),
        (#"{"reissue":{"perSecond":0}}"#, "reissue.perSecond"),
        (#"{"takeover":{"marginPoints":-0.1}}"#, "takeover.marginPoints"),
        (#"{"starts":{"hardCap":2.5}}"#, "starts.hardCap"), (#"{"starts":{"hardCap":true}}"#, "starts.hardCap"),
        (#"{"starts":{"hardCap":null}}"#, "starts.hardCap"), (#"{"card":{"maxGames":0}}"#, "card.maxGames"),
        (#"{"night":{"rollsAt":"24:00"}}"#, "night.rollsAt"), (#"{"night":{"rollsAt":"6:00"}}"#, "night.rollsAt"),
        (#"{"night":{"rollsAt":"06:60"}}"#, "night.rollsAt"), (#"{"night":{"rollsAt":360}}"#, "night.rollsAt"),
        (#"{"gateway":{"tokenMinSeconds":4000}}"#, "gateway.tokenMinSeconds"),
        (#"{"moments":{"basketball":{"comebackMargin":0}}}"#, "moments.basketball.comebackMargin"), ("[]", ""),
    ])
    func `section 12: an impossible value names its key`(text: String, key: String) {
        #expect {
            try decode(text)
        } throws: {
            ($0 as? TuningFault)?.key == key
        }
    }
}
