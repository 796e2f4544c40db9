import CardRules
import Foundation
import Operations
import Simulation
import Synchronization
import TLS

/// A simulated gateway that knows every token, and counts what reaches each: judged from the phone's side.
final class CountingGateway: Sendable {
    private let server: GatewayServer
    private let counts: Counts

    /// Where a configuration of `folder` finds the provider's key and the certificate to trust.
    init(in folder: URL) throws {
        let counts = Counts()
        let clock = MachineClock()
        self.counts = counts
        server = try GatewayServer(
            backend: counts, identity: try ServerIdentity.selfSigned(now: clock.now.unixSeconds), seed: 1,
            now: { clock.now })
        try Data(try SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("key.p8"))
        try Data(server.certificatePEM.utf8).write(to: folder.appendingPathComponent("gateway.pem"))
    }

    /// The lines of a configuration that send pushes here.
    var configuration: String {
        """
        apps: [ { id: 'lineup', bundleID: 'example.lineup', teamID: 'TEAM123456', keyID: 'KEY1234567', keyFile: 'key.p8',
                  slateAttributesType: 'LineupAttributes' } ],
        apns: { gateways: { production: { url: '\(server.url(of: .production) ?? "")' },
                            sandbox: { url: '\(server.url(of: .sandbox) ?? "")' } }, caFile: 'gateway.pem' }
        """
    }

    /// Accepted pushes by token, hex, and event: `start`, `update`, `end`.
    func pushes(_ event: String) -> [String: Int] { counts.of(event) }

    /// Returns when that many starts have been accepted in all.
    func waitForStarts(_ count: Int) async { await counts.wait(for: "start", count) }

    func wait(for event: String, _ count: Int) async { await counts.wait(for: event, count) }

    func stop() async { await server.stopped() }

    private final class Counts: GatewayBackend {
        private struct State {
            var pushes: [String: [String: Int]] = [:]
            var totals: [String: Int] = [:]
            var waiting: [(event: String, count: Int, latch: Latch)] = []
        }

        private let state = Mutex(State())
        private let any = AnyTokenBackend()

        func serve(
            _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
            at now: WallTime
        ) -> GatewayAnswer {
            let answer = any.serve(request, by: &model, on: &connection, at: now)
            guard let delivery = answer.delivery else { return answer }
            let body = String(decoding: delivery.push.payload, as: UTF8.self)
            let event = ["start", "update", "end"].first { body.contains("\"event\":\"\($0)\"") } ?? "other"
            let token = delivery.token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let met = state.withLock { state -> [Latch] in
                state.pushes[event, default: [:]][token, default: 0] += 1
                state.totals[event, default: 0] += 1
                let met = state.waiting.filter { $0.event == event && $0.count <= state.totals[event] ?? 0 }
                state.waiting.removeAll { $0.event == event && $0.count <= state.totals[event] ?? 0 }
                return met.map(\.latch)
            }
            for latch in met { latch.open() }
            return answer
        }

        func of(_ event: String) -> [String: Int] { state.withLock { $0.pushes[event] ?? [:] } }

        func wait(for event: String, _ count: Int) async {
            let latch = Latch()
            let isMet = state.withLock { state -> Bool in
                if state.totals[event] ?? 0 >= count { return true }
                state.waiting.append((event, count, latch))
                return false
            }
            if !isMet { await latch.wait() }
        }
    }
}
