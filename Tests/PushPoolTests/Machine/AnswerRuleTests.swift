import CardRules
import Lanes
import Testing

@testable import PushPool

/// G2 to G5: what the pool makes of each answer.
@Suite struct AnswerRuleTests {
    /// Every row of ref section 3: what is asked of the pool, and whether the push goes once more by itself.
    static let rows: [(Int, String, AnswerMeaning)] = [
        (400, "BadCollapseId", .fault(.push)), (400, "BadDeviceToken", .badToken),
        (400, "BadExpirationDate", .fault(.push)), (400, "BadMessageId", .fault(.push)),
        (400, "BadPriority", .fault(.push)), (400, "BadTopic", .fault(.app)),
        (400, "InvalidPushType", .fault(.push)), (400, "DuplicateHeaders", .fault(.push)),
        (400, "DeviceTokenNotForTopic", .fault(.app)), (400, "IdleTimeout", .changeConnection(.idle)),
        (400, "MissingDeviceToken", .fault(.push)), (400, "MissingTopic", .fault(.app)),
        (400, "PayloadEmpty", .fault(.push)), (400, "TopicDisallowed", .fault(.app)),
        (403, "BadCertificate", .fault(.key)), (403, "BadCertificateEnvironment", .fault(.key)),
        (403, "ExpiredProviderToken", .changeConnection(.tokenExpired)),
        (403, "InvalidProviderToken", .fault(.key)), (403, "MissingProviderToken", .fault(.key)),
        (403, "UnrelatedKeyIdInToken", .changeConnection(.boundToOtherKey)),
        (403, "BadEnvironmentKeyIdInToken", .fault(.key)), (403, "BadEnvironmentKeyInToken", .fault(.key)),
        (403, "Forbidden", .fault(.key)), (404, "BadPath", .fault(.push)),
        (405, "MethodNotAllowed", .fault(.push)), (410, "ExpiredToken", .deadToken),
        (410, "Unregistered", .deadToken), (413, "PayloadTooLarge", .fault(.push)),
        (429, "TooManyProviderTokenUpdates", .changeConnection(.tokenUpdates)),
        (429, "TooManyRequests", .slowToken), (500, "InternalServerError", .serverError),
        (503, "ServiceUnavailable", .serverError), (503, "Shutdown", .changeConnection(.serverLeaves)),
        (400, "SomethingNew", .fault(.push)), (502, "HTTP 502", .serverError), (429, "HTTP 429", .slowToken),
    ]

    @Test(arguments: rows.indices)
    func `ref section 3: each reason has its verdict, and only what certainly did not count goes again, once`(
        row: Int
    ) {
        let (status, word, meaning) = Self.rows[row]
        let verdict = PoolBench.refusal(word, status)
        #expect(AnswerMeaning(verdict) == meaning)
        var bench = PoolBench()
        bench.prove()
        let push = bench.add(0..<1)[0]
        bench.turn()
        bench.answerNext(verdict)
        let goesAgain =
            switch meaning {
            case .changeConnection, .serverError: true  // it is a start
            case .accepted, .badToken, .deadToken, .slowToken, .fault: false
            }
        #expect((bench.verdicts[push] == nil) == goesAgain)
        if goesAgain {
            bench.pass(1)
            #expect(bench.written.map(\.connection) == [2], "on another connection")
            #expect(bench.connection(1) == nil)
            bench.answerNext(verdict)
        }
        #expect(bench.verdicts[push] == verdict)
        #expect(bench.state.isEmpty)
    }

    @Test(arguments: [PushEvent.update, .end])
    func `G5: only a start is tried again after a 5xx`(event: PushEvent) {
        var bench = PoolBench()
        bench.prove()
        let push = bench.add(0..<1, event)[0]
        bench.turn()
        bench.answerNext(PoolBench.refusal("InternalServerError", 500))
        #expect(bench.verdicts[push] == PoolBench.refusal("InternalServerError", 500))
    }

    @Test func `G5: five 5xx in a row hold the gateway; one push probes every half minute; ends go all the same`() {
        var bench = PoolBench()
        bench.prove()
        for number in 0..<5 {
            bench.add(number..<number + 1, .update)
            bench.turn()
            bench.answerNext(PoolBench.refusal("ServiceUnavailable", 503))
        }
        #expect(bench.notices == [.gatewayInTrouble(.production, status: 503)])
        bench.add(10..<20, .update)
        bench.add(20..<21, .end)
        bench.turn()
        #expect(bench.written.count == 1, "the end")
        bench.answerNext()
        #expect(bench.notices.last == .healed(.gateway(.production)) && bench.written.count == 10)
    }

    @Test
    func `known fault 5: a wrong topic stops its app alone; one probe every half minute, one alarm; on healing all go`()
    {
        var bench = PoolBench { $0.timeoutSeconds = 1000 }
        bench.prove()
        bench.add(0..<100)
        bench.turn()
        bench.answerAll(PoolBench.refusal("TopicDisallowed", 400))
        let scope = PoolScope.app(.production, topic: "app")
        #expect(bench.notices == [.misconfigured(scope, reason: "TopicDisallowed")])
        bench.add(200..<210)
        bench.add(PoolBench.facts(300, topic: "other"))
        bench.turn()
        #expect(bench.written.count == 1, "the other app goes on")
        bench.answerNext()
        for _ in 0..<3 {
            bench.pass(29)
            #expect(bench.written.isEmpty)
            bench.pass(1)
            #expect(bench.written.count == 1)
            bench.answerNext(PoolBench.refusal("TopicDisallowed", 400))
        }
        #expect(bench.notices.count == 1)
        bench.pass(30)
        bench.answerNext()
        #expect(bench.notices.last == .healed(scope) && bench.written.count == 6)
        bench.answerAll()
        #expect(bench.state.isEmpty)
    }

    @Test(arguments: [("TopicDisallowed", 400), ("InvalidProviderToken", 403), ("InternalServerError", 500)])
    func `G3, G8: after a fault no more are in flight than it takes to be sure of it, and a 200 lifts that`(
        reason: String, status: Int
    ) {
        let refusal = PoolBench.refusal(reason, status)
        var bench = PoolBench()
        bench.prove()
        bench.add(0..<1, .update)
        bench.turn()
        bench.answerNext(refusal)
        bench.add(1..<100, .update)
        bench.turn()
        #expect(bench.written.count == 4)
        bench.answerNext()
        #expect(bench.written.count == 98, "all is well")
        bench.answerAll()

        bench.add(100..<101, .update)
        bench.turn()
        bench.answerNext(refusal)
        bench.add(101..<200, .update)
        bench.turn()
        bench.answerAll(refusal)
        #expect(bench.state.faults.heldCount == 1 && bench.state.waitingCount == 95, "five, and no more")
    }

    @Test func `G3: 403s stop the key on that gateway, and not the same key on the other`() {
        var bench = PoolBench {
            $0.groups.append(.init(gateway: .sandbox, key: 0, keyID: "KEY1234567"))
            $0.anyTopic[.sandbox] = 1
        }
        bench.add(0..<10)
        bench.turn()
        for _ in 0..<5 { bench.answerNext(PoolBench.refusal("InvalidProviderToken", 403)) }
        #expect(bench.written.isEmpty && bench.state.waitingCount == 5)
        #expect(bench.state.faults.held == [.key(.production, keyID: "KEY1234567")])
        bench.add(PoolBench.facts(50, gateway: .sandbox))
        bench.turn()
        #expect(bench.written.count == 1)
    }

    @Test
    func `G3: a fault of one push alone stops nothing, and BadDeviceToken in a healthy stream follows its own rule`() {
        var bench = PoolBench()
        bench.prove()
        bench.add(0..<20)
        bench.turn()
        for number in 0..<10 {
            bench.answerNext(PoolBench.refusal(number % 2 == 0 ? "BadDeviceToken" : "PayloadTooLarge", 400))
        }
        #expect(bench.state.faults.held.isEmpty && bench.written.count == 10)
        #expect(bench.notices.count == 1, "a broken push is mentioned once a minute")
    }

    @Test
    func `ref T23: a wedged connection is drained and replaced, and what it refused for its token goes again once`() {
        var bench = PoolBench()
        bench.prove()
        bench.pass(1300)
        let pushes = bench.add(0..<5)
        bench.turn()
        bench.answerNext(PoolBench.refusal("ExpiredProviderToken", 403))
        #expect(bench.connection(1)?.isDraining == true)
        for _ in 0..<4 { bench.answer(bench.written[0], PoolBench.refusal("ExpiredProviderToken", 403)) }
        bench.answerAll()
        #expect(pushes.allSatisfy { bench.verdicts[$0] == .accepted })
        #expect(bench.signed.count == 2 && bench.opened == [1, 2])
        #expect(bench.state.faults.held.isEmpty, "one old token is one fault, however many requests carried it")
    }

    @Test func `G5: a token refused with TooManyRequests is held 60 s, doubling to 15 min; an end tries every minute`()
    {
        var bench = PoolBench { $0.timeoutSeconds = 2000 }
        bench.prove()
        var waits: [Double] = []
        for _ in 0..<6 {
            bench.add(PoolBench.facts(1, .update))
            bench.turn()
            let before = bench.now
            while bench.written.isEmpty { bench.pass(1) }
            waits.append(bench.now.steady.seconds(since: before.steady))
            bench.answerNext(PoolBench.refusal("TooManyRequests", 429))
        }
        // Without a generator the jitter is at its most: a tenth.
        #expect(waits == [0, 66, 132, 264, 528, 990])
        bench.add(PoolBench.facts(1, .end))
        let before = bench.now
        bench.turn()
        while bench.written.isEmpty { bench.pass(1) }
        #expect(bench.now.steady.seconds(since: before.steady) <= 150)
        bench.answerNext()
        bench.add(PoolBench.facts(1, .update))
        bench.turn()
        #expect(bench.written.count == 1, "a 200 lifts the hold")
    }

    @Test func `G8: after a run of bad tokens the tries on the other gateway keep a distance`() {
        var bench = PoolBench {
            $0.groups.append(.init(gateway: .sandbox, key: 0, keyID: "KEY1234567"))
            $0.anyTopic[.sandbox] = 1
        }
        bench.prove()
        bench.add(PoolBench.facts(800, gateway: .sandbox, isConfirmed: false))
        bench.turn()
        bench.answerAll()
        bench.add(0..<10)
        bench.turn()
        bench.answerAll(PoolBench.refusal("BadDeviceToken", 400))
        for number in 0..<10 { bench.add(PoolBench.facts(number, gateway: .sandbox)) }
        bench.add(PoolBench.facts(900, gateway: .sandbox, isConfirmed: false))
        bench.turn()
        var sent: [Double] = []
        for _ in 0..<100 {
            for _ in bench.written { sent.append(bench.now.steady.seconds(since: .zero)) }
            bench.answerAll(PoolBench.refusal("BadDeviceToken", 400))
            bench.pass(0.25)
        }
        #expect(sent.count == 11)
        #expect(sent.filter { $0 == 0 }.count == 2, "one try, and the one that is none")
        #expect((sent.last ?? 0) >= 8.9)
    }

    @Test func `G4: while the key is refused pushes wait, and connections are not opened one after the other`() {
        var bench = PoolBench()
        bench.add(0..<50)
        bench.turn()
        for _ in 0..<600 {
            bench.answerAll(PoolBench.refusal("ExpiredProviderToken", 403))
            bench.pass(0.1)
        }
        #expect(bench.opened.count <= 10)
        #expect(bench.signed.count == 1)
        #expect(bench.state.isEmpty)
    }
}
