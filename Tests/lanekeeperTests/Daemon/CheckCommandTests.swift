import CardRules
import Foundation
import Simulation
import TLS
import Testing

@testable import lanekeeper

@Suite(.enabled(if: BuiltProgram.url != nil)) struct CheckCommandTests {
    private static let now = WallTime(seconds: 1_794_699_000)

    /// A simulated gateway, a key, and a configuration that names them.
    private func inPlace(_ body: (URL) async throws -> Void) async throws {
        try await BuiltProgram.inFolder { folder in
            let gateway = try GatewayServer(
                backend: DeskBackend(seed: 1),
                identity: try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970)),
                options: GatewayOptions(), seed: 1, now: { Self.now })
            do {
                try Data(gateway.certificatePEM.utf8).write(to: folder.appendingPathComponent("ca.pem"))
                try Data(try SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("key.p8"))
                let text = """
                    { apps: [ { id: 'a', bundleID: 'com.example.a', teamID: 'TEAM123456', keyID: 'KEY1234567',
                        keyFile: 'key.p8', slateAttributesType: 'A' } ],
                      apns: { caFile: 'ca.pem', gateways: { production: { url: '\(gateway.url(of: .production) ?? "")' },
                        sandbox: { url: '\(gateway.url(of: .sandbox) ?? "")' } } } }
                    """
                try Data(text.utf8).write(to: folder.appendingPathComponent("c.json5"))
                try await body(folder)
            } catch {
                await gateway.stopped()
                throw error
            }
            await gateway.stopped()
        }
    }

    private func check(_ words: [String] = [], in folder: URL) async throws -> BuiltProgram.Outcome {
        try await BuiltProgram.run(["check", "--config", "c.json5"] + words, in: folder)
    }

    @Test func `check: all is well, and nothing was pushed or made`() async throws {
        try await inPlace { folder in
            let outcome = try await check(in: folder)
            #expect(outcome.code == 0, "\(outcome.output) \(outcome.errors)")
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("ok ") })
            #expect(lines.last?.contains("speaks TLSv1.3 and HTTP/2") == true)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("lanekeeper.db").path))
        }
    }

    @Test(arguments: [
        ("apns.gateways.sandbox.url=https://127.0.0.1:1", "gateway sandbox", "Connection refused"),
        ("apns.caFile=null", "gateway production", "not trusted"),
        ("apns.caFile=none.pem", "apns.caFile", "none.pem"),
        (
            "apps=[{id:'a',bundleID:'com.example.a',teamID:'TEAM123456',slateAttributesType:'A',gatewayKeys:{"
                + "production:{keyID:'KEY1234567',keyFile:'key.p8'},sandbox:{keyID:'KEY1234567',keyFile:'none.p8'}}}]",
            "key of a", "none.p8"
        ),
        ("apps.0.keyFile=none.p8", "key of a", "none.p8"),
        ("apps.0.keyFile=c.json5", "key of a", "no usable key"),
        ("store.url=sqlite:none/x.db", "store", "make it, or set store.url"),
        ("store.url=postgres://u:hush@h/d", "store", "postgres://u:***@h/d"),
        ("http.tls={certificateFile:'ca.pem',keyFile:'key.p8'}", "http.tls", "key"),
        ("apps=[]", "apps", "no phone can be reached"),
        ("apps.0.keyID=short", "configuration", "apps.0.keyID: must be 10 of A-Z and 0-9"),
    ])
    func `check: what is wrong is told with what to do, and 1`(set: String, what: String, words: String) async throws {
        try await inPlace { folder in
            let outcome = try await check(["--set", set], in: folder)
            #expect(outcome.code == 1)
            let faults = outcome.output.split(separator: "\n").filter { $0.hasPrefix("FAULT") }
            #expect(faults.contains { $0.hasPrefix("FAULT  \(what): ") && $0.contains(words) }, "\(outcome.output)")
            #expect(!outcome.output.contains("hush"))
            #expect(faults.count == 1 || set == "apns.caFile=null", "only what is at fault is blamed: \(faults)")
        }
    }

    @Test func `check: a store that a daemon holds is no fault, and one that it may open is opened`() async throws {
        try await inPlace { folder in
            let migrated = try await BuiltProgram.run(["migrate", "--config", "c.json5", "--json"], in: folder)
            #expect(migrated.code == 0)
            #expect(migrated.output == "{\"migrated\":true,\"store\":\"sqlite:lanekeeper.db\"}\n")
            #expect(try await check(in: folder).output.contains("store: sqlite:lanekeeper.db was opened"))
            let daemon = try await RunningDaemon(in: folder, configuration: "{}")
            #expect(try await check(in: folder).output.contains("in use by a running lanekeeper"))
            let refused = try await BuiltProgram.run(["migrate"], in: folder)
            #expect(refused.code == 1 && refused.errors.first?.contains("in use") == true)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `check: findings and configuration as JSON`() async throws {
        try await inPlace { folder in
            let outcome = try await check(["--json", "--set", "apps=[]"], in: folder)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
            #expect(json["ok"] as? Bool == false && (json["findings"] as? [[String: Any]])?.count == 5)
            let printed = try await check(["--print", "--json"], in: folder)
            let whole = try #require(
                try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
            #expect(whole.keys.contains("tuning") && printed.code == 0)
            #expect(try await check(["--print"], in: folder).output.contains("bundleID: \"com.example.a\""))
        }
    }
}
