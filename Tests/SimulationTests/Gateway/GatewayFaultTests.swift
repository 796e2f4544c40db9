import CardRules
import Testing

@testable import Simulation

/// Ref 8.2, G23, G24, G27, G32 as decisions.
@Suite struct GatewayFaultTests {
    private static func model(_ change: (inout GatewayOptions) -> Void) -> GatewayModel {
        GatewayModel(gateway: .production, options: GatewayModelTests.options(change), seed: 3)
    }

    private static func answers(_ model: inout GatewayModel, _ count: Int, at now: WallTime = GatewayModelTests.now)
        -> [GatewayAnswer]
    {
        var connection = model.openConnection()
        return (0..<count).map { _ in
            model.answer(GatewayModelTests.request(), on: &connection, at: now) { _ in
                .live(bundleID: "com.example.lineup")
            }
        }
    }

    private static let kinds: [(GatewayFault.Kind, Int, GatewayAnswer.Effect, copies: Int?)] = [
        (.serverError, 500, .none, nil), (.unavailable, 503, .none, nil), (.shutdown, 503, .none, nil),
        (.reset(code: 7), 500, .reset(code: 7), nil), (.resetAfter(code: 2), 200, .reset(code: 2), 1),
        (.delay(seconds: 3), 200, .none, 1), (.lose, 200, .none, nil), (.silence, 200, .silence, 1),
        (.duplicate, 200, .none, 2), (.hangUp(withReset: true), 200, .hangUp(withReset: true), 1),
    ]

    @Test(arguments: kinds.indices)
    func `G27: a fault happens as often as told: what reaches the phone, and what the client sees, are its own`(
        row: Int
    ) {
        let (kind, status, effect, copies) = Self.kinds[row]
        var model = Self.model { $0.faults = [GatewayFault(kind, times: 2)] }
        let answers = Self.answers(&model, 3)
        for answer in answers.prefix(2) {
            #expect(answer.status == status && answer.effect == effect)
            #expect((answer.delivery == nil ? nil : answer.copies) == copies)
            if case .delay(let seconds) = kind { #expect(answer.delaySeconds == seconds) }
        }
        #expect(answers[2].status == 200 && answers[2].effect == .none && answers[2].copies == 1)
        #expect(model.counters.faults == 2)
    }

    @Test func `G27: a fault may concern some tokens, and a share of requests that the seed draws`() {
        var model = Self.model { $0.faults = [GatewayFault(.serverError, tokenPrefix: [0xb2])] }
        let spared = Self.answers(&model, 5)
        #expect(spared.allSatisfy { $0.status == 200 })
        model = Self.model { $0.faults = [GatewayFault(.serverError, share: 0.25, tokenPrefix: [0xa1])] }
        let failed = Self.answers(&model, 400).count { $0.status == 500 }
        #expect((60...140).contains(failed))
        var again = Self.model { $0.faults = [GatewayFault(.serverError, share: 0.25, tokenPrefix: [0xa1])] }
        let failedAgain = Self.answers(&again, 400).count { $0.status == 500 }
        #expect(failedAgain == failed)
    }

    @Test func `G24: a device token hit too often in a second is refused with TooManyRequests, and then taken again`() {
        var model = Self.model { $0.perTokenPerSecond = 3 }
        let first = Self.answers(&model, 5).map(\.status)
        let second = Self.answers(&model, 1, at: GatewayModelTests.now.advanced(bySeconds: 1)).map(\.status)
        #expect(first == [200, 200, 200, 429, 429] && second == [200])
    }

    @Test func `G23: a client that opens too many connections in a minute is turned away for a while`() {
        var model = Self.model { $0.opensPerMinute = 5 }
        let now = GatewayModelTests.now
        let taken = (0..<7).map { model.mayOpen(at: now.advanced(bySeconds: Double($0))) }
        #expect(taken == Array(repeating: true, count: 5) + [false, false])
        let later = [60, 66].map { model.mayOpen(at: now.advanced(bySeconds: $0)) }
        #expect(later == [false, true])
        #expect(model.counters.turnedAway == 3)
    }

    @Test
    func `G32: retry-after comes with 429 and 503 only where it is switched on; the date is the gateway's own clock`() {
        var model = Self.model { $0.faults = [GatewayFault(.unavailable)] }
        let plain = Self.answers(&model, 1)[0]
        #expect(!plain.headers.contains { $0.name == "retry-after" || $0.name == "date" })
        model = Self.model {
            $0.faults = [GatewayFault(.unavailable, times: 1)]
            $0.retryAfterSeconds = 900
            $0.dateOffsetSeconds = 60
        }
        let answers = Self.answers(&model, 2)
        #expect(answers[0].headers.contains(GatewayHeader("retry-after", "900")))
        #expect(!answers[1].headers.contains { $0.name == "retry-after" })
        #expect(answers[1].headers.contains(GatewayHeader("date", "Wed, 18 Nov 2026 11:07:40 GMT")))
    }
}
