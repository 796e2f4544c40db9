import CardRules
import Foundation
import Operations
import Simulation
import TLS

@testable import lanekeeper

/// What a daemon of the tests' needs around it: a folder with its keys, and a simulated gateway to push to.
struct DaemonFixture {
    let folder: URL
    let gateway: GatewayServer
    let key: String
    private let keyLine: String

    /// A gateway and a folder for one test.
    static func inPlace(_ body: (DaemonFixture) async throws -> Void) async throws {
        try await BuiltProgram.inFolder { folder in
            var options = GatewayOptions()
            options.requestsKept = 100
            let gateway = try GatewayServer(
                backend: DeskBackend(seed: 1),
                identity: try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970)),
                options: options, seed: 1, now: { WallTime(fractionalSeconds: Date().timeIntervalSince1970) })
            do {
                let lines = try KeyCommand(["new", "--scope", "devices", "--scope", "feed", "--scope", "admin"])
                    .lines(secret: [UInt8](repeating: 7, count: 32))
                try Data(gateway.certificatePEM.utf8).write(to: folder.appendingPathComponent("ca.pem"))
                try Data(try SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("key.p8"))
                try await body(
                    DaemonFixture(folder: folder, gateway: gateway, key: lines[0], keyLine: lines[1]))
            } catch {
                await gateway.stopped()
                throw error
            }
            await gateway.stopped()
        }
    }

    /// - Parameters:
    ///   - http: further members of `http`. - others: further members of the whole.
    func configuration(http: String = "", _ others: String = "") -> String {
        """
        { apps: [ { id: 'lineup', bundleID: 'com.example.lineup', teamID: 'TEAM123456', keyID: 'KEY1234567',
            keyFile: 'key.p8', slateAttributesType: 'LineupAttributes' } ],
          apns: { caFile: 'ca.pem', gateways: { production: { url: '\(gateway.url(of: .production) ?? "")' },
            sandbox: { url: '\(gateway.url(of: .sandbox) ?? "")' } } },
          log: { level: 'debug', format: 'text' },
          http: { keys: [ \(keyLine) ], \(http) }, \(others) }
        """
    }

    /// Waits until the sandbox has had so many requests that match, or the test's time is over.
    /// - Throws: `RunningDaemon.GaveUp`, which tells the last requests.
    func pushes(
        _ count: Int, where matches: (RecordedRequest) -> Bool = { _ in true }
    ) async throws -> [RecordedRequest] {
        while true {
            let all = gateway.withModel(of: .sandbox) { $0.requests } ?? []
            let found = all.filter(matches)
            if found.count >= count { return found }
            if Task.isCancelled {
                throw RunningDaemon.GaveUp(
                    "\(count) pushes", last: "\(found.count) of \(all.count) matched; the newest: \(all.suffix(3))")
            }
            // Another process has its turn.
            try? await onOwnThread("look") { _ = usleep(20_000) }
        }
    }
}
