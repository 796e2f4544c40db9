import CardRules
import Lanes
import Testing

@testable import PushPool

/// G7: order, rates, coalescing, pause, and the end.
@Suite struct WaitingRuleTests {
    @Test func `G7: ends and reissues go first, then starts, urgent updates, routine ones; within a rank the oldest`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        bench.add(0..<1)
        bench.turn()  // takes the one stream
        let order: [PushFacts] = [
            PoolBench.facts(1, .update), PoolBench.facts(2, .update, urgent: true), PoolBench.facts(3, .start),
            PoolBench.facts(4, .end), PoolBench.facts(5, .update, urgent: true),
            PoolBench.facts(6, .start, reissue: true), PoolBench.facts(7, .start), PoolBench.facts(8, .update),
        ]
        for facts in order { bench.add(facts) }
        var sent: [UInt8] = []
        while let request = bench.written.first {
            sent.append(bench.state.slots[request.push.place].facts.address.token[7])
            bench.answer(request)
        }
        #expect(sent == [0, 4, 6, 3, 7, 2, 5, 1, 8])
    }

    @Test func `G7: the distances of many tokens are kept apart, in a table that stays bounded`() {
        var memory = AddressMemory(limits: .init(spacing: Spacing(perSecond: 1, burst: 1), kept: 8192))
        let keys = (0..<12_000).map { AddressKey(token: PoolBench.token($0)) }
        func remembered(_ range: Range<Int>) -> Int {
            keys[range].count { memory.due($0, isPatient: true, at: .zero) > .zero }
        }
        for key in keys[..<4000] { memory.spend(key, at: .zero) }
        #expect(remembered(0..<4000) >= 3990 && remembered(4000..<12_000) == 0)
        #expect(memory.due(keys[0], isPatient: false, at: .zero) == .zero)
        for key in keys[4000...] { memory.spend(key, at: .zero) }
        #expect((7000...8192).contains(remembered(0..<12_000)), "\(remembered(0..<12_000))")
    }

    @Test func `G7: an update takes the place of a waiting one of its card, with the better of both ranks`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        bench.add(0..<1)
        bench.turn()
        bench.add(PoolBench.facts(1, .update))
        bench.add(PoolBench.facts(2, .update, urgent: true))
        bench.add(PoolBench.facts(3, .update))
        bench.add(PoolBench.facts(1, .update, urgent: true))
        bench.add(PoolBench.facts(2, .update))
        #expect(bench.settled.map(\.1) == [.notSent, .notSent] && bench.state.waitingCount == 3)
        var sent: [UInt8] = []
        while let request = bench.written.first {
            sent.append(bench.state.slots[request.push.place].facts.address.token[7])
            bench.answer(request)
        }
        #expect(sent == [0, 1, 2, 3], "the front change goes at once, and takes the waiting content with it")
    }

    @Test func `G7: an end makes waiting updates of its card void; starts never coalesce`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        bench.add(0..<1)
        bench.turn()
        bench.add(PoolBench.facts(1, .update))
        bench.add(PoolBench.facts(1, .end))
        bench.add(PoolBench.facts(2))
        bench.add(PoolBench.facts(2))
        #expect(bench.settled.count == 1 && bench.state.waitingCount == 3)
        bench.answerAll()
        #expect(bench.settled.count == 5)
    }

    @Test func `G7: an update that comes back while a newer one waits is over, so that two do not change places`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        let older = bench.add(PoolBench.facts(1, .update))
        bench.turn()
        bench.add(PoolBench.facts(1, .update))
        bench.refuseStream(bench.written[0])
        if let older { #expect(bench.verdicts[older] == .notSent) }
        #expect(bench.written.count == 1 && bench.state.waitingCount == 0)
    }

    @Test func `G7: the gateway's rate holds over any second, can be changed at run time, and 0 stops it`() {
        var bench = PoolBench {
            $0.perSecond = 100
            $0.timeoutSeconds = 1000
        }
        bench.prove()
        bench.pass(1)
        bench.add(0..<1000)
        var sent = 0
        for _ in 0..<40 {
            bench.pass(0.05)
            sent += bench.written.count
            bench.answerAll()
        }
        #expect((200...230).contains(sent), "\(sent) in two seconds")
        bench.state.set(perSecond: 0, of: .production, at: bench.now)
        bench.pass(5)
        #expect(bench.written.isEmpty)
        bench.state.set(perSecond: 400, of: .production, at: bench.now)
        sent = 0
        for _ in 0..<20 {
            bench.pass(0.05)
            sent += bench.written.count
            bench.answerAll()
        }
        #expect((380...410).contains(sent), "\(sent) in a second")
    }

    @Test
    func
        `G7: a device token gets a burst of three, then one a second; its ends never wait, and others are not held up`()
    {
        var bench = PoolBench { $0.addresses.spacing = Spacing(perSecond: 1, burst: 3) }
        bench.prove()
        for _ in 0..<6 { bench.add(PoolBench.facts(1)) }
        bench.add(10..<15)
        bench.turn()
        #expect(bench.written.count == 8)
        bench.add(PoolBench.facts(1, .end))
        bench.turn()
        #expect(bench.written.count == 9)
        bench.answerAll()
        bench.pass(0.9)
        #expect(bench.written.isEmpty)
        bench.pass(0.2)
        #expect(bench.written.count == 1)
        bench.pass(1)
        bench.pass(1)
        #expect(bench.written.count == 3 && bench.state.waitingCount == 0)
    }

    @Test
    func `G7: a paused gateway loses nothing: its time stands still, and only what has expired is over afterwards`() {
        var bench = PoolBench()
        bench.prove()
        let second = bench.now.wall.unixSeconds
        bench.state.pause(.production, at: bench.now)
        let short = bench.add(PoolBench.facts(1, expiration: second + 600))
        let long = bench.add(PoolBench.facts(2, expiration: second + 7200))
        bench.pass(3600)
        #expect(bench.written.isEmpty && bench.settled.isEmpty)
        bench.state.resume(.production, at: bench.now)
        bench.turn()
        #expect(bench.written.map(\.push) == [long])
        if let short { #expect(bench.verdicts[short] == .notSent) }
        bench.answerAll()
        // Its waiting time begins where it stood.
        bench.state.set(perSecond: 0, of: .production, at: bench.now)
        let late = bench.add(PoolBench.facts(3))
        bench.pass(29)
        #expect(bench.settled.count == 2)
        bench.pass(1)
        if let late { #expect(bench.verdicts[late] == .notSent) }
    }

    @Test func `G7: with a drain what waits still goes until the deadline, then every push has its verdict`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        let pushes = bench.add(0..<10)
        bench.turn()
        bench.state.stop(deadline: bench.now.steady.advanced(bySeconds: 5), at: bench.now)
        #expect(bench.add(PoolBench.facts(99)) == nil)
        bench.answerNext()
        bench.pass(2)
        bench.answerNext()
        bench.pass(2.9)
        #expect(bench.settled.count == 2)
        bench.pass(0.2)
        #expect(
            pushes.map { bench.verdicts[$0] } == [.accepted, .accepted, .unknown] + Array(repeating: .notSent, count: 7)
        )
        #expect(bench.state.isEmpty)
    }

    @Test func `G7: without one what waits is over at once, and what is in flight is awaited`() {
        var bench = PoolBench(streams: 1) { $0.group.connections = 1 }
        bench.prove()
        let pushes = bench.add(0..<3)
        bench.turn()
        bench.state.stop(deadline: nil, at: bench.now)
        bench.turn()
        #expect(pushes.map { bench.verdicts[$0] } == [nil, .notSent, .notSent])
        bench.refuseStream(bench.written[0])
        #expect(bench.verdicts[pushes[0]] == .notSent && bench.opened == [1])
    }

    /// L2, G6: any gateway whatever. Prints its seed on failure.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `L2: whatever a gateway does, each push has one verdict, and what may have counted is unknown at once`(
        seed: UInt64
    ) {
        var random = Draw(seed: seed)
        var bench = PoolBench(streams: random.pick(1...20)) {
            $0.group.connections = random.pick(1...5)
            $0.addresses.spacing = Spacing(perSecond: 2, burst: 3)
        }
        var taken = 0
        let words = [
            ("BadDeviceToken", 400), ("ExpiredProviderToken", 403), ("TooManyRequests", 429), ("Shutdown", 503),
            ("InternalServerError", 500), ("TopicDisallowed", 400), ("Unregistered", 410),
            ("InvalidProviderToken", 403),
        ]
        for step in 0..<400 {
            let event = PushEvent.allCases[random.pick(0...2)]
            if random.pick(0...2) == 0 {
                for _ in 0..<random.pick(1...8) {
                    bench.add(
                        PoolBench.facts(
                            random.pick(0...60), event, urgent: random.pick(0...1) == 0,
                            isConfirmed: random.pick(0...3) > 0))
                    taken += 1
                }
            }
            bench.turn()
            guard let request = bench.written.isEmpty ? nil : bench.written[random.pick(0...bench.written.count - 1)]
            else {
                bench.pass(Double(random.pick(0...20)) / 4)
                continue
            }
            switch random.pick(0...12) {
            case 0...5: bench.answer(request)
            case 6, 7:
                let (word, status) = words[random.pick(0...words.count - 1)]
                bench.answer(request, PoolBench.refusal(word, status))
            case 8: bench.refuseStream(request)
            case 9:
                let sent = bench.written.filter { $0.connection == request.connection }.map(\.push)
                let before = bench.settled.count
                bench.lose(request.connection)
                #expect(
                    bench.settled[before...].prefix(sent.count).allSatisfy { $0.1 == .unknown },
                    "seed \(seed), step \(step): what may have counted is over")
            case 10: bench.handle(.settings(request.connection, streams: random.pick(0...20)))
            case 11: bench.handle(.goaway(request.connection, code: "NO_ERROR", text: ""))
            default: bench.pass(Double(random.pick(0...40)))
            }
        }
        bench.state.stop(deadline: bench.now.steady.advanced(bySeconds: 1), at: bench.now)
        bench.pass(2)
        #expect(bench.state.isEmpty, "seed \(seed)")
        #expect(bench.settled.count == taken, "seed \(seed): one verdict each")
        #expect(bench.state.waitingUpdates.isEmpty, "seed \(seed)")
    }

    private struct Draw {
        var state: UInt64
        init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }
        mutating func pick(_ range: ClosedRange<Int>) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int((state >> 33) % UInt64(range.count))
        }
    }
}
