import CardRules
import Lanes
import Testing

@testable import PushPool

/// G6 and G8 without a socket: which connection takes what, and when others are opened and closed.
@Suite struct ConnectionRuleTests {
    private static let phases: [(ConnectionState.Phase, Bool)] = [
        (.opening, false), (.greeting, false), (.unproven, true), (.proven, true), (.draining(.goaway), false),
    ]

    /// A connection in a phase, with a limit of 10.
    private func connection(in phase: ConnectionState.Phase) -> ConnectionState {
        var connection = ConnectionState(number: 1, standing: .confirmed, at: .zero)
        if phase == .opening { return connection }
        connection.established(at: .zero)
        if phase == .greeting { return connection }
        connection.took(settings: 10, at: .zero)
        if phase == .unproven { return connection }
        connection.proved()
        if case .draining(let cause) = phase { connection.drain(cause) }
        return connection
    }

    @Test
    func `G6: every event in every phase leads where it may, and none makes a connection take requests too early`() {
        for (phase, takes) in Self.phases {
            let before = connection(in: phase)
            #expect(before.phase == phase && (before.room(atMost: 1000) > 0) == takes)
            var after = before
            after.established(at: .zero)
            #expect(after.phase == (phase == .opening ? .greeting : phase))
            after = before
            after.took(settings: 10, at: .zero)
            #expect(after.phase == (phase == .opening || phase == .greeting ? .unproven : phase))
            after = before
            after.proved()
            #expect(after.phase == (phase == .unproven ? .proven : phase))
            after = before
            after.drain(.timedOut)
            #expect(after.isDraining && after.room(atMost: 1000) == 0)
            if phase == .draining(.goaway) { #expect(after.phase == phase, "the first cause stays") }
            after.took(settings: 50, at: .zero)
            after.proved()
            #expect(after.isDraining, "nothing brings a draining connection back")
            #expect(after.isOver)
            after = before
            after.sent(at: .zero)
            after.drain(.idle)
            #expect(!after.isOver)
            after.ended(at: .zero)
            #expect(after.isOver)
        }
    }

    @Test func `G6: the first SETTINGS are awaited, one request goes first, then as many as the newest SETTINGS allow`()
    {
        var bench = PoolBench(streams: nil)
        bench.add(0..<50)
        bench.turn()
        #expect(bench.opened == [1] && bench.written.isEmpty)
        bench.handle(.established(1))
        #expect(bench.written.isEmpty, "nghttp2 would let 100 out now")
        bench.handle(.settings(1, streams: 1))
        #expect(bench.written.count == 1)
        bench.handle(.settings(1, streams: 1000))
        #expect(bench.written.count == 1, "not before it is answered")
        bench.answerNext()
        #expect(bench.written.count == 49)
    }

    @Test func `G6: a limit that shrinks holds at once: 1, 1000, 1, 10`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.add(0..<40)
        bench.turn()
        #expect(bench.written.count == 1)
        bench.handle(.settings(1, streams: 20))
        bench.answerNext()
        #expect(bench.written.count == 20)
        bench.handle(.settings(1, streams: 1))
        for left in (1...19).reversed() {
            bench.answerNext()
            #expect(bench.written.count == left, "nothing new as long as more than one is open")
        }
        bench.answerNext()
        #expect(bench.written.count == 1)
        bench.handle(.settings(1, streams: 10))
        #expect(bench.written.count == 10)
        bench.answerAll()
        #expect(bench.settled.count == 40 && bench.settled.allSatisfy { $0.1 == .accepted })
    }

    @Test func `G6: a request past its deadline is unknown, its connection is drained and replaced`() {
        var bench = PoolBench()
        bench.prove()
        let late = bench.add(0..<3)
        bench.turn()
        bench.pass(10)
        bench.add(3..<4)
        bench.turn()
        bench.pass(20)
        #expect(late.allSatisfy { bench.verdicts[$0] == .unknown })
        #expect(bench.notices.contains(.timedOut(.production)))
        #expect(bench.connection(1)?.phase == .draining(.timedOut) && bench.closed.isEmpty, "one has time left")
        bench.add(4..<5)
        bench.turn()
        #expect(bench.written.last?.connection == 2)
        bench.pass(10)
        #expect(bench.closed == [1])
    }

    @Test func `G6: an answer after the deadline changes nothing, also when its place belongs to another push`() {
        var bench = PoolBench()
        bench.prove()
        bench.add(0..<1)
        bench.turn()
        let request = bench.written[0]
        bench.pass(30)
        bench.add(1..<2)
        bench.turn()
        let count = bench.settled.count
        bench.handle(.answered(request.push, ticket: request.ticket, PoolAnswer(verdict: .accepted)))
        #expect(bench.settled.count == count && bench.state.inFlightCount == 1)
    }

    @Test func `G6: deadlines run on the steady clock: a wall clock set back by two hours delays none`() {
        var bench = PoolBench()
        bench.prove()
        let push = bench.add(0..<1)[0]
        bench.turn()
        bench.now.wall = bench.now.wall.advanced(bySeconds: -7200)
        bench.pass(30)
        #expect(bench.verdicts[push] == .unknown)
    }

    @Test func `G6, G7: REFUSED_STREAM moves a push elsewhere as not sent, and after too many it ends as that`() {
        var bench = PoolBench { $0.group.connections = 1 }
        bench.prove()
        let push = bench.add(0..<1)[0]
        bench.turn()
        for _ in 0..<PoolState.movesAtMost {
            bench.refuseStream(bench.written[0])
            #expect(bench.verdicts[push] == nil && bench.written.count == 1)
        }
        bench.refuseStream(bench.written[0])
        #expect(bench.verdicts[push] == .notSent)
    }

    @Test func `known fault 12: after a GOAWAY no request goes on its connection, and its text is kept`() {
        var bench = PoolBench()
        bench.prove()
        bench.add(0..<2)
        bench.turn()
        bench.handle(.goaway(1, code: "NO_ERROR", text: "Maximum active streams violated for this endpoint."))
        #expect(
            bench.notices.contains(
                .goaway(
                    .production, code: "NO_ERROR", text: "Maximum active streams violated for this endpoint.")))
        bench.add(2..<3)
        bench.turn()
        #expect(bench.written.map(\.connection) == [1, 1, 2])
        bench.answer(bench.written[0])
        bench.answer(bench.written[0])
        #expect(bench.closed == [1], "those up to the last stream may finish")
    }

    @Test func `ref T21: reconnects back off, and no more than the cap are opened in a minute`() {
        var bench = PoolBench(streams: nil) {
            $0.group.opensPerMinute = 5
            $0.group.backoff = .init(firstSeconds: 0.5, mostSeconds: 2)
            $0.timeoutSeconds = 1000
            $0.group.connectSeconds = 500
        }
        bench.add(0..<1)
        bench.turn()
        var times: [Double] = []
        for _ in 0..<2000 {
            if let last = bench.opened.last, bench.connection(last) != nil {
                times.append(bench.now.steady.seconds(since: .zero))
                bench.handle(.lost(last, text: "connection refused"))
            }
            bench.pass(0.1)
        }
        let gaps = zip(times.dropFirst(), times).map { ($0 - $1) }
        #expect(gaps.count > 5)
        #expect(abs(gaps[0] - 0.5) < 0.15 && abs(gaps[1] - 1) < 0.15 && abs(gaps[2] - 2) < 0.15)
        for start in times { #expect(times.count { $0 >= start && $0 < start + 59.9 } <= 5) }
        #expect(bench.notices.count { if case .connectionFailed = $0 { true } else { false } } == 1, "said once")
    }

    @Test func `a trouble that takes another one's place is told too, each once, and so is its end`() {
        var bench = PoolBench(streams: nil) { $0.timeoutSeconds = 1000 }
        bench.add(0..<1)
        bench.turn()
        for text in ["refused", "refused", "not trusted", "refused", "not trusted"] {
            bench.handle(.lost(bench.opened.last ?? 0, text: text))
            while bench.connection(bench.opened.last ?? 0) == nil { bench.pass(1) }
        }
        let told: [PoolNotice] = ["refused", "not trusted"].map { .connectionFailed(.production, text: $0) }
        #expect(bench.notices == told)
        bench.handle(.established(bench.opened.last ?? 0))
        bench.handle(.settings(bench.opened.last ?? 0, streams: 10))
        bench.answerNext()
        #expect(bench.notices == told + [.healed(.gateway(.production))])
        bench.add(1..<2)
        bench.turn()
        bench.answerNext()
        #expect(bench.settled.count == 2 && bench.notices.count == 3)
    }

    @Test func `G6: connections grow with load up to the bound, one after the other, and shrink when idle`() {
        var bench = PoolBench(streams: 10)
        bench.add(0..<100)
        bench.turn()
        #expect(bench.opened == [1], "others follow when the first has proven itself")
        bench.answerNext()
        #expect(bench.opened == [1, 2])
        while bench.written.contains(where: { $0.connection == 1 }), bench.opened.count < 3 {
            if let request = bench.written.first(where: { $0.connection == 2 }) { bench.answer(request) } else { break }
        }
        #expect(bench.opened == [1, 2, 3], "three of four are for confirmed addresses")
        bench.answerAll()
        #expect(bench.settled.count == 100 && bench.opened.count == 3)
        bench.pass(700)
        #expect(bench.closed.sorted() == [2, 3])
    }

    @Test func `ref T19: PING after an hour idle, and a connection that does not answer it is given up`() {
        var bench = PoolBench()
        bench.prove()
        bench.pass(3599)
        #expect(bench.pinged.isEmpty)
        bench.pass(2)
        #expect(bench.pinged == [1])
        bench.handle(.pong(1))
        bench.pass(3601)
        #expect(bench.pinged == [1, 1])
        bench.pass(31)
        #expect(bench.closed == [1])
    }

    @Test func `ref T19: a week-old connection is replaced quietly: the new one is ready before the old one goes`() {
        var bench = PoolBench(streams: nil)
        bench.add(0..<1)
        bench.turn()
        bench.handle(.established(1))
        bench.handle(.settings(1, streams: 100))
        bench.answerAll()
        for _ in 0..<(7 * 24 * 2) {
            bench.pass(1800)
            if let last = bench.pinged.last { bench.handle(.pong(last)) }
        }
        #expect(bench.opened == [1, 2] && bench.closed.isEmpty)
        bench.add(1..<2)
        bench.turn()
        #expect(bench.written.last?.connection == 1)
        bench.handle(.established(2))
        bench.handle(.settings(2, streams: 100))
        #expect(bench.connection(1)?.phase == .draining(.old))
        bench.answerAll()
        #expect(bench.closed == [1] && bench.notices.isEmpty)
    }

    @Test func `G8: unconfirmed and failing addresses do not share connections with confirmed ones`() {
        var bench = PoolBench()
        bench.add(0..<20)
        bench.add(100..<120, isConfirmed: false)
        bench.turn()
        bench.answerNext()
        bench.answerNext()
        let confirmed = bench.connection(1)?.standing == .confirmed ? 1 : 2 as UInt64
        for request in bench.written {
            let isConfirmed = bench.state.slots[request.push.place].facts.isConfirmed
            #expect((request.connection == confirmed) == isConfirmed)
        }
        // Confirmed once, but refused lately.
        let failing = bench.written.first { $0.connection == confirmed }
        if let failing { bench.answer(failing, PoolBench.refusal("BadDeviceToken", 400)) }
        bench.answerAll()
        if let failing {
            let token = bench.state.slots[failing.push.place].facts.address.token
            bench.add(PushFacts(event: .update, rank: .routineUpdate, to: AddressKey(token: token), isConfirmed: true))
            bench.turn()
            #expect(bench.written.last?.connection != confirmed)
        }
    }

    @Test func `G6, ref K6: each gateway, team and key has connections of its own`() {
        var bench = PoolBench {
            $0.groups = [
                .init(gateway: .production, key: 0, keyID: "A"), .init(gateway: .production, key: 1, keyID: "B"),
                .init(gateway: .sandbox, key: 0, keyID: "A"),
            ]
            $0.keys = 2
            $0.anyTopic = [:]
            $0.routes = [.production: ["a": 0, "b": 1], .sandbox: ["a": 2]]
        }
        for (topic, gateway) in [("a", Gateway.production), ("b", .production), ("a", .sandbox)] {
            for number in 0..<5 { bench.add(PoolBench.facts(number, gateway: gateway, topic: topic)) }
        }
        #expect(bench.add(PoolBench.facts(9, gateway: .sandbox, topic: "b")) == nil)
        bench.turn()
        #expect(bench.notices == [.unknownTopic("b", .sandbox)])
        for _ in 0..<3 { bench.answerNext() }
        #expect(bench.opened.count == 3 && bench.written.count == 12)
        for request in bench.written {
            let facts = bench.state.slots[request.push.place].facts
            #expect(request.token.key == (facts.topic == "b" ? 1 : 0))
            let group = bench.state.groups.firstIndex { $0.place(of: request.connection) != nil }
            #expect(group == (facts.gateway == .sandbox ? 2 : facts.topic == "b" ? 1 : 0))
        }
        #expect(bench.signed.count == 2, "one token a key for the whole process")
    }
}
