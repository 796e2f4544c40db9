import CardRules
import Lanes
import Testing

@testable import Operations

@Suite struct LifeCycleTests {
    private struct Fault: Error, CustomStringConvertible { let description: String }

    private final class Night: Sendable {
        let happened = Box<[String]>([])
        let pages = Pages()
        let clock: TestClock
        let log: Log
        let (signals, tell) = AsyncStream.makeStream(of: LifeCycle.Signal.self)

        init(isJumping: Bool = false) throws {
            clock = TestClock(isJumping: isJumping)
            let pages = pages
            log = try Log(level: .info, format: .text, isTerminal: false, clock: clock) { pages.take($0) }
        }

        func part(
            _ name: String, _ plan: FailurePlan = .endsDaemon, run: (@Sendable () async throws -> Void)? = nil
        ) -> Part {
            Part(
                name, onFailure: plan, start: { self.note("\(name) starts") }, run: run,
                stop: { self.note("\(name) stops") })
        }

        func note(_ what: String) { happened.change { $0.append(what) } }

        func live(_ parts: [Part], reload: @escaping @Sendable () async -> Void = {}) async -> LifeCycle.End {
            let life = LifeCycle(
                parts: parts, clock: clock, log: log, service: ServiceNotifier(), reload: reload,
                stageChanged: { self.note("\($0)") })
            let end = await life.run(signals: signals)
            await log.close()
            return end
        }
    }

    @Test func `life: parts are started in order and stopped in reverse`() async throws {
        let night = try Night()
        night.tell.yield(.stop)
        let end = await night.live([night.part("store"), night.part("pool"), night.part("web")])
        #expect(end == .stopped)
        #expect(
            night.happened.value == [
                "starting", "store starts", "pool starts", "web starts", "ready", "stopping", "web stops", "pool stops",
                "store stops",
            ])
    }

    @Test func `life: what does not start ends it with a reason, and what had started is stopped`() async throws {
        let night = try Night()
        let broken = Part("pool", start: { throw Fault(description: "no key") }, stop: { night.note("pool stops") })
        let end = await night.live([night.part("store"), broken, night.part("web")])
        #expect(end == .failed(part: "pool", reason: "no key"))
        #expect(night.happened.value == ["starting", "store starts", "stopping", "store stops"])
        #expect(night.pages.lines.contains { $0.contains("part=pool") && $0.contains("no key") })
    }

    @Test(arguments: [true, false])
    func `life: a part that fails takes the daemon down in order, with its reason`(throwsError: Bool) async throws {
        let night = try Night()
        let failing = night.part("lanes") { if throwsError { throw Fault(description: "broken") } }
        let end = await night.live([night.part("store"), failing])
        #expect(end == .failed(part: "lanes", reason: throwsError ? "broken" : "it ended by itself"))
        #expect(night.happened.value.suffix(3) == ["stopping", "lanes stops", "store stops"])
    }

    @Test func `life: a part that may be run again is, after waits that double`() async throws {
        let night = try Night(isJumping: true)
        let began = night.clock.uptime
        let times = Box<[Double]>([])
        var plan = RestartPlan()
        plan.failuresAtMost = 4
        let feed = night.part("feed", .restarts(plan)) {
            let now = night.clock.uptime.seconds(since: began)
            times.change { $0.append(now) }
            throw Fault(description: "gone")
        }
        // The heartbeats of the service manager move this clock too: only the first five runs are looked at.
        let end = await night.live([feed])
        #expect(end == .failed(part: "feed", reason: "gone"))
        #expect(times.value.count == 5)
    }

    @Test func `life: a restart is counted, forgotten after a good run, and bounded`() {
        var count = RestartCount()
        var plan = RestartPlan()
        #expect(count.failed(afterSeconds: 1, .restarts(plan)) == .runAgain(afterSeconds: 1))
        #expect(count.failed(afterSeconds: 1, .restarts(plan)) == .runAgain(afterSeconds: 2))
        #expect(count.failed(afterSeconds: 1, .restarts(plan)) == .runAgain(afterSeconds: 4))
        for _ in 0..<20 { _ = count.failed(afterSeconds: 1, .restarts(plan)) }
        #expect(count.failed(afterSeconds: 1, .restarts(plan)) == .runAgain(afterSeconds: 60))
        #expect(count.failed(afterSeconds: 400, .restarts(plan)) == .runAgain(afterSeconds: 1))
        plan.failuresAtMost = 1
        #expect(count.failed(afterSeconds: 1, .restarts(plan)) == .endDaemon)
        #expect(count.failed(afterSeconds: 400, .endsDaemon) == .endDaemon)
    }

    @Test func `life: a reload does not stop anything`() async throws {
        let night = try Night()
        night.tell.yield(.reload)
        let end = await night.live([night.part("store")]) {
            night.note("reload")
            night.tell.yield(.stop)
        }
        #expect(end == .stopped)
        #expect(night.happened.value == ["starting", "store starts", "ready", "reload", "stopping", "store stops"])
    }
}
