import CardRules
import Testing

@testable import Lanes

@Suite struct DeadlineWheelTests {
    private let start = WallTime(seconds: 1_700_000_000)

    @Test func `a lane comes due at its deadline, never before`() {
        var wheel = DeadlineWheel(now: start)
        wheel.grow(to: 3)
        wheel.arm(1, at: start.advanced(bySeconds: 10.05))
        #expect(wheel.advance(to: start.advanced(bySeconds: 10.04)) == [])
        #expect(wheel.advance(to: start.advanced(bySeconds: 10.1)) == [1])
        #expect(wheel.advance(to: start.advanced(bySeconds: 100)) == [])
        #expect(wheel.earliest == nil)
    }

    @Test func `the earliest deadline is the time at which something comes due`() {
        var wheel = DeadlineWheel(now: start)
        wheel.grow(to: 2)
        wheel.arm(0, at: start.advanced(bySeconds: 3600))
        wheel.arm(1, at: start.advanced(bySeconds: 7200))
        #expect(wheel.earliest == start.advanced(bySeconds: 3600))
        wheel.arm(0, at: nil)
        #expect(wheel.earliest == start.advanced(bySeconds: 7200))
    }

    @Test func `a deadline that has passed comes due at the next step`() {
        var wheel = DeadlineWheel(now: start)
        wheel.grow(to: 1)
        wheel.arm(0, at: .distantPast)
        #expect(wheel.advance(to: start.advanced(bySeconds: 0.1)) == [0])
    }

    @Test func `beyond the horizon a lane comes due early, to ask again`() {
        var wheel = DeadlineWheel(now: start)
        wheel.grow(to: 1)
        wheel.arm(0, at: .distantFuture)
        let horizon = wheel.earliest
        #expect(horizon.map { $0.seconds(since: start) > 14 * 3600 } == true)
    }

    @Test(arguments: UInt64(0)..<32)
    func `against a plain list: the same lanes come due in the same order`(seed: UInt64) {
        var random = TestGenerator(seed: seed)
        var wheel = DeadlineWheel(now: start)
        let count = 40
        wheel.grow(to: count)
        var plain = [Int64?](repeating: nil, count: count)
        var now = start
        for step in 0..<400 {
            let lane = Int(random.next() % UInt64(count))
            if random.next() % 5 == 0 {
                wheel.arm(lane, at: nil)
                plain[lane] = nil
            } else {
                let seconds = Double(random.next() % 50_000) / [1, 10, 1000][Int(random.next() % 3)]
                let time = now.advanced(bySeconds: seconds)
                wheel.arm(lane, at: time)
                let (wanted, soonest) = ((time.milliseconds + 99) / 100, now.milliseconds / 100 + 1)
                plain[lane] = max(wanted, soonest)
            }
            if random.next() % 3 == 0 {
                now = now.advanced(bySeconds: Double(random.next() % 100_000) / 100)
                let target = now.milliseconds / 100
                var pairs: [(due: Int64, lane: Int)] = []
                for lane in plain.indices {
                    if let due = plain[lane], due <= target { pairs.append((due, lane)) }
                }
                let due: [Int] = pairs.sorted { $0 < $1 }.map(\.lane)
                for lane in due { plain[lane] = nil }
                #expect(wheel.advance(to: now) == due, "seed \(seed), step \(step)")
            }
            let earliest = plain.compactMap { $0 }.min().map { WallTime(milliseconds: $0 * 100) }
            #expect(wheel.earliest == earliest, "seed \(seed), step \(step)")
        }
    }
}
