import CardRules
import Lanes
import Measuring
import Operations
import PushPool
import PushWire
import Simulation
import Synchronization
import TLS

/// Updates that wait in the pool, each to a token of its own, all with one payload: their gateway is paused.
struct PoolMemory: Sendable {
    let pushes: Int

    func run() throws -> BytesEach {
        var configuration = PushPool.Configuration(
            gateways: [.production: .init(host: "127.0.0.1", port: 1)],
            keys: .one(try .init(pem: SigningKey.freshPEM(), keyID: "KEY1234567", teamID: "TEAM123456")))
        configuration.maxWaiting = pushes
        let clock = MachineClock()
        let pool = try PushPool(configuration: configuration, clock: clock)
        pool.pause(.production)
        let sink = CountingSink()
        let payload = [UInt8](repeating: 0x20, count: 378)
        let topic = LaneSystem.profile.topic
        let before = Held()
        for first in stride(from: 0, to: pushes, by: 1000) {
            _ = pool.send(
                (first..<min(first + 1000, pushes)).map { number in
                    OutgoingPush(
                        request: PushRequest(
                            id: ApnsID(randomHigh: UInt64(number), randomLow: 1),
                            address: PushAddress(token: token(number), gateway: .production), topic: topic,
                            event: .update, priority: .conserving, expiration: .max, collapseID: nil, payload: payload),
                        ticket: PushTicket(
                            device: DeviceID(unchecked: "phone"), generation: Generation(1),
                            number: PushNumber(UInt32(number))),
                        sink: sink, isConfirmed: true)
                })
        }
        // They reach the thread in portions.
        var patience = 200
        while pool.snapshot.waiting < pushes, patience > 0 {
            sleepSeconds(0.05)
            patience -= 1
        }
        guard pool.snapshot.waiting >= pushes else {
            throw Failure("only \(pool.snapshot.waiting) of \(pushes) pushes wait")
        }
        let each = Held().growth(since: before, over: pushes)
        try blocking { await pool.stop() }
        guard sink.answered == pushes else { throw Failure("\(sink.answered) of \(pushes) pushes were answered") }
        return each
    }

    /// Random, as real ones are.
    private func token(_ number: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(number))
        return random.bytes(80)
    }
}

private final class CountingSink: VerdictSink {
    private let count = Atomic<Int>(0)
    func take(_ answers: [PushAnswer]) { count.add(answers.count, ordering: .relaxed) }
    var answered: Int { count.load(ordering: .relaxed) }
}
