import CardRules
import Foundation
import Simulation
import Testing

@testable import lanekeeper

/// How the daemon ends with pushes under way.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct DaemonStopTests {
    /// A daemon with one start on its way, to a gateway that answers as it is told to.
    private func underWay(
        _ fault: GatewayFault.Kind, _ body: (DaemonFixture, RunningDaemon) async throws -> Void
    ) async throws {
        try await DaemonFixture.inPlace { fixture in
            let fault = GatewayFault(fault)
            fixture.gateway.withModel(of: .sandbox) { $0.options.faults = [fault] }
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: fixture.configuration())
            #expect(await daemon.logged("ready") != nil)
            let device = #"{"user":"u1","gateway":"sandbox","pushToStartToken":"80c3e5a1","osVersion":"18.1"}"#
            #expect(try await daemon.put("/v1/devices/d1", device, key: fixture.key).hasSuffix(" 204"))
            let probe = try await daemon.send("POST", "/v1/probes", #"{"device":"d1"}"#, key: fixture.key)
            #expect(probe.hasSuffix(" 202"), "\(probe)")
            #expect(await daemon.logged("a push was written") != nil)
            try await body(fixture, daemon)
        }
    }

    @Test func `serve: SIGTERM waits for the answers of a slow gateway; no push is left without a verdict`()
        async throws
    {
        try await underWay(.delay(seconds: 2)) { fixture, daemon in
            daemon.send(SIGTERM)
            let log = await daemon.restOfLog()
            #expect(await daemon.ended() == (0, false))
            #expect(log.contains { $0.contains("a push was answered") && $0.contains("accepted") }, "\(log)")
            #expect(fixture.gateway.withModel(of: .sandbox) { $0.counters.accepted } == 1)

            // The verdict was written.
            let again = try await RunningDaemon(in: fixture.folder, configuration: fixture.configuration())
            let timeline = try await again.get("/v1/devices/d1/timeline", key: fixture.key)
            #expect(timeline.contains(#""probe":{"variant":"full","event":"accepted"}"#), "\(timeline)")
            #expect(try await again.get("/v1/devices/d1", key: fixture.key).contains(#""sent":1,"accepted":1"#))
            again.send(SIGTERM)
            #expect(await again.ended() == (0, false))
        }
    }

    @Test func `L2, L10: a gateway that never answers does not keep it; the start is unknown, and not sent again`()
        async throws
    {
        try await underWay(.silence) { fixture, daemon in
            daemon.send(SIGTERM)
            let log = await daemon.restOfLog()
            #expect(await daemon.ended() == (0, false))
            #expect(log.contains { $0.contains("a push was answered") && $0.contains("unknown") }, "\(log)")
            let again = try await RunningDaemon(in: fixture.folder, configuration: fixture.configuration())
            let timeline = try await again.get("/v1/devices/d1/timeline", key: fixture.key)
            #expect(timeline.contains(#""probe":{"variant":"full","event":"unknown"}"#), "\(timeline)")
            again.send(SIGTERM)
            #expect(await again.ended() == (0, false))
            let counted = fixture.gateway.withModel(of: .sandbox) { $0.counters }
            #expect(counted?.unanswered == 1 && counted?.accepted == 0, "\(counted.debugDescription)")
        }
    }

    @Test func `serve: a second signal does not wait for the gateway`() async throws {
        try await underWay(.silence) { _, daemon in
            daemon.send(SIGTERM)
            #expect(await daemon.logged("a part is stopped")?.contains("web server") == true)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (SIGTERM, true))
        }
    }
}
