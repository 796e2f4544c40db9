import CardRules
import Dispatch
import Foundation
import Glibc
import Lanes
import PushPool
import Synchronization
import TLS

/// All pushes of a round once through the pool, in this process.
struct PoolRun {
    let options: Options

    init(_ options: Options) { self.options = options }

    /// Blocks the calling thread until all is done: a profiler wants one that stays.
    /// - Throws: `Failure` unless every push was accepted.
    func run() throws {
        var configuration = PushPool.Configuration(
            gateways: [.production: .init(host: "127.0.0.1", port: options.port)],
            trust: .file(options.certificate),
            keys: .one(try .init(file: options.providerKey, keyID: options.keyID, teamID: options.teamID)))
        // One more: it is kept for unconfirmed addresses (G8), and not opened here.
        configuration.connections = options.connections + 1
        configuration.maxStreams = options.streams
        configuration.perSecond = 10_000_000
        let clock = SystemClock()
        let pool = try PushPool(configuration: configuration, clock: clock)
        let feeder = Feeder(
            pool: pool, total: options.pushes, window: 2 * options.connections * options.streams,
            expiration: clock.now.unixSeconds + 600)
        feeder.begin()
        feeder.wait()
        let stopped = DispatchSemaphore(value: 0)
        Task {
            await pool.stop()
            stopped.signal()
        }
        stopped.wait()
        guard feeder.accepted == options.pushes else {
            throw Failure(description: "\(feeder.accepted) of \(options.pushes) pushes were accepted")
        }
    }
}

/// Keeps the pool busy: as verdicts come home, others are offered.
private final class Feeder: VerdictSink {
    private struct State {
        var offered = 0
        var answered = 0
        var accepted = 0
    }

    private let state = Mutex(State())
    private let isOver = DispatchSemaphore(value: 0)
    private let pool: PushPool
    private let total: Int
    private let window: Int
    private let expiration: Int64

    init(pool: PushPool, total: Int, window: Int, expiration: Int64) {
        (self.pool, self.total, self.window, self.expiration) = (pool, total, window, expiration)
    }

    var accepted: Int { state.withLock { $0.accepted } }

    func begin() { offer() }

    func take(_ answers: [PushAnswer]) {
        let isLast = state.withLock { state in
            state.answered += answers.count
            state.accepted += answers.count { $0.verdict == .accepted }
            return state.answered == total
        }
        if isLast { isOver.signal() }
        offer()
    }

    func wait() { isOver.wait() }

    private func offer() {
        let numbers = state.withLock { state in
            let upTo = min(total, state.answered + window)
            defer { state.offered = max(state.offered, upTo) }
            return state.offered..<max(state.offered, upTo)
        }
        let device = DeviceID(unchecked: "d")
        _ = pool.send(
            numbers.map { number in
                OutgoingPush(
                    request: Workload.request(number, expiration: expiration),
                    ticket: PushTicket(
                        device: device, generation: Generation(1),
                        number: PushNumber(UInt32(truncatingIfNeeded: number))),
                    sink: self, isConfirmed: true)
            })
    }
}

private struct SystemClock: WallClock, SteadyClock {
    var now: WallTime { WallTime(fractionalSeconds: Double(Self.nanoseconds(CLOCK_REALTIME)) * 1e-9) }
    var uptime: SteadyTime { SteadyTime(nanoseconds: Self.nanoseconds(CLOCK_MONOTONIC)) }

    func sleep(until deadline: WallTime) async throws {
        try await ContinuousClock().sleep(for: .seconds(max(0, deadline.seconds(since: now))))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
