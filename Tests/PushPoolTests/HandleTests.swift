import CardRules
import Foundation
import HTTP2
import Lanes
import TLS
import Testing

@testable import PushPool
@testable import Simulation

/// No handle outlives its pool: descriptors and threads of a process of its own, for other tests have theirs in this one.
@Suite struct HandleTests {
    @Test func `no descriptor and no thread is left of pools whose connections ended in every way`() async {
        await #expect(processExitsWith: .success) {
            try await HandleTests.round()  // what the process opens once and keeps
            let before = try HandleTests.counts()
            for _ in 0..<3 { try await HandleTests.round() }
            // A thread that has said it is over may still be on its way out.
            let patience = ContinuousClock.now.advanced(by: .seconds(30))
            var after = try HandleTests.counts()
            while after.threads > before.threads || after.descriptors > before.descriptors,
                ContinuousClock.now < patience
            {
                await Task.yield()
                after = try HandleTests.counts()
            }
            guard after.descriptors <= before.descriptors, after.threads <= before.threads else {
                throw Left(descriptors: after.descriptors - before.descriptors, threads: after.threads - before.threads)
            }
        }
    }

    private struct Left: Error {
        let descriptors: Int
        let threads: Int
    }

    /// - Returns: threads of the pool and of its peers; those of Swift's own come and go.
    static func counts() throws -> (descriptors: Int, threads: Int) {
        let files = FileManager.default
        let threads = try files.contentsOfDirectory(atPath: "/proc/self/task").filter { task in
            let name = (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) ?? ""
            return ["push-", "scripted", "apns-"].contains { name.hasPrefix($0) }
        }
        return (try files.contentsOfDirectory(atPath: "/proc/self/fd").count, threads.count)
    }

    /// Connections that end with GOAWAY, RST, FIN, a timeout, in the handshake, and with their pool.
    static func round() async throws {
        let clock = ScaledClock(start: ScriptedRig.start, speed: 20)
        let endings: [[ServerStep]] = [
            [.goAway(last: 3), .close], [.reset], [.close], [], [.resetStream(3, .internalError)],
        ]
        for ending in endings {
            let rig = try ScriptedRig(clock: clock) { request, _ in
                request.connection == 0 && request.stream > 1 ? ending : [.answer(request.stream)]
            }
            rig.send(0..<1)
            await rig.sink.wait(for: 1)
            rig.send(1..<4)
            await rig.sink.wait(for: 4)
            await rig.end()
        }
        let rig = try ScriptedRig(
            clock: clock, protocols: ["http/1.1"], configuration: { $0.timeoutSeconds = 2 }
        ) { _, _ in [] }
        rig.send(0..<3)
        await rig.sink.wait(for: 3)
        await rig.end()
    }
}
