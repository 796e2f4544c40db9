import CardRules
import Lanes
import Simulation
import Testing

@testable import PushPool

/// G4 without a key: when a provider token is signed, and which connection carries which.
@Suite struct TokenScheduleTests {
    private static let start = PoolTime(steady: .zero, wall: WallTime(seconds: 1_795_000_000))
    private func at(_ seconds: Double) -> PoolTime { Self.start.advanced(bySeconds: seconds) }

    @Test func `G4: a token serves fifty minutes on the steady clock, whatever the wall clock does`() {
        var schedule = TokenSchedule(key: 0, limits: .init())
        let first = schedule.token(held: nil, at: at(0))
        #expect(first.mustSign)
        var later = at(2999)
        later.wall = later.wall.advanced(bySeconds: 86_400)
        #expect(schedule.token(held: (first.token, .zero), at: later).mustSign == false)
        let second = schedule.token(held: (first.token, .zero), at: at(3000))
        #expect(second.mustSign && second.token != first.token)
    }

    @Test func `ref K3: a connection that begins late in a token's life gets a fresh one, and none sees two in 20 min`()
    {
        var schedule = TokenSchedule(key: 0, limits: .init())
        let first = schedule.token(held: nil, at: at(0)).token
        #expect(schedule.token(held: nil, at: at(1799)).mustSign == false)
        let young = (first, at(1799).steady)
        let second = schedule.token(held: nil, at: at(1800))
        #expect(second.mustSign)
        #expect(schedule.token(held: young, at: at(1799 + 1199)).token == first, "it keeps what it began with")
        #expect(schedule.token(held: young, at: at(1799 + 1200)).token == second.token)
    }

    @Test(arguments: UInt64(1)...20)
    func `G4, ref K3: however seldom connections are used, no token is older than 50 min, none sees two in 20 min`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var schedule = TokenSchedule(key: 0, limits: .init())
        var held = [(token: TokenRef, since: SteadyTime)?](repeating: nil, count: 5)
        var signedAt: [TokenRef: Double] = [:]
        var second = 0.0
        while second < 3 * 86_400 {
            second += Double.random(in: 0...1, using: &random) < 0.9 ? 20 : Double.random(in: 0...4000, using: &random)
            // The first is used all the time, the last hardly ever.
            let place = min(Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
            let (token, mustSign) = schedule.token(held: held[place], at: at(second))
            if mustSign {
                if let last = signedAt.values.max() { #expect(second - last >= 1200, "seed \(seed)") }
                signedAt[token] = second
            }
            if let before = held[place], before.token != token {
                #expect(at(second).steady.seconds(since: before.since) >= 1200, "seed \(seed)")
            }
            if held[place]?.token != token { held[place] = (token, at(second).steady) }
            #expect(second - (signedAt[token] ?? -.infinity) <= 3000, "seed \(seed), connection \(place) at \(second)")
        }
    }

    @Test func `G4: refused tokens are signed anew no more than once in 20 min, however many complain`() {
        var schedule = TokenSchedule(key: 0, limits: .init())
        var signatures: [Double] = []
        for second in stride(from: 0.0, through: 7200, by: 7) {
            let (token, mustSign) = schedule.token(held: nil, at: at(second))
            if mustSign { signatures.append(second) }
            for _ in 0..<3 { schedule.wasRefused(token) }
        }
        #expect(signatures.count == 6)
        for (later, earlier) in zip(signatures.dropFirst(), signatures) { #expect(later - earlier >= 1200) }
    }

    @Test func `G4: a mended clock allows one fresh signature`() {
        var schedule = TokenSchedule(key: 0, limits: .init())
        let first = schedule.token(held: nil, at: at(0)).token
        schedule.wasRefused(first)
        var mended = at(60)
        #expect(schedule.token(held: nil, at: mended).mustSign == false)
        mended.wall = mended.wall.advanced(bySeconds: 7200)
        let second = schedule.token(held: nil, at: mended)
        #expect(second.mustSign)
        schedule.wasRefused(second.token)
        mended = mended.advanced(bySeconds: 60)
        mended.wall = mended.wall.advanced(bySeconds: 7200)
        #expect(schedule.token(held: nil, at: mended).mustSign == false, "one")
    }

    @Test func `G4: one signature serves all connections of a key, also when they open at once`() {
        var bench = PoolBench(streams: 1) {
            $0.groups.append(.init(gateway: .sandbox, key: 0, keyID: "KEY1234567"))
            $0.anyTopic[.sandbox] = 1
        }
        for number in 0..<10 {
            bench.add(PoolBench.facts(number, gateway: number % 2 == 0 ? .production : .sandbox))
            bench.add(PoolBench.facts(100 + number, isConfirmed: false))
        }
        bench.turn()
        bench.answerAll()
        #expect(bench.opened.count >= 3 && bench.signed.count == 1)
    }

    @Test func `G4: a key that cannot sign leaves its pushes not sent, and is tried again`() {
        var bench = PoolBench()
        let push = bench.add(0..<1)[0]
        bench.turn()
        let request = bench.written[0]
        bench.handle(.cannotSign(request.token, text: "no"))
        bench.handle(.unsendable(request.push, ticket: request.ticket))
        #expect(bench.verdicts[push] == .notSent)
        #expect(bench.notices == [.cannotSign(keyID: "KEY1234567", text: "no")])
        bench.add(1..<2)
        bench.turn()
        #expect(bench.signed.count == 2)
    }

    @Test func `G4: the peer's clock is compared once a connection, and a skew is said plainly`() {
        var bench = PoolBench()
        bench.add(0..<1)
        bench.turn()
        bench.answer(bench.written[0], peerSeconds: bench.now.wall.unixSeconds - 400)
        bench.add(1..<2)
        bench.turn()
        bench.answer(bench.written[0], peerSeconds: bench.now.wall.unixSeconds - 400)
        #expect(bench.notices == [.clockSkew(.production, seconds: 400)])
        #expect(bench.notices[0].description.hasPrefix("this machine's clock is 400 s ahead of"))
    }
}
