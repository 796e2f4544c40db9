import Foundation
import TLS
import Testing

@testable import lanekeeper

/// The commands as processes of their own against a daemon that is one too.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct RealDaemonCommandTests {
    private func configuration(_ key: String) -> String {
        let digest = sha256(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return """
            { log: { format: 'text' },
              http: { keys: [ { name: 'ops', scopes: ['devices', 'admin'], sha256: '\(digest)' } ] },
              apps: [ { id: 'lineup', bundleID: 'example.lineup', teamID: 'TEAM123456', keyID: 'KEY1234567', keyFile: 'k.p8',
                        slateAttributesType: 'LineupAttributes' } ] }
            """
    }

    @Test func `lane, moment and probe talk to the daemon, and their exit codes say how it went`() async throws {
        try await BuiltProgram.inFolder { folder in
            let key = "made-up-key-of-a-test"
            try Data("\(key)\n".utf8).write(to: folder.appendingPathComponent("key"))
            try Data(SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("k.p8"))
            let daemon = try await RunningDaemon(in: folder, configuration: configuration(key))
            #expect(await daemon.logged("ready") != nil)
            let address = try #require(ClientAddress(daemon.address))
            let client = try HTTPClient(ClientConfiguration(address, key: key))
            let put = try await client.send(.json("PUT", "/v1/devices/d1", Array(#"{"user":"u1"}"#.utf8)))
            #expect(put.status == 204, "\(String(decoding: put.body, as: UTF8.self))")
            await client.stopped()

            // A proxy of the environment is not asked for this machine: nobody listens there.
            let away = ["http_proxy": "http://127.0.0.1:1", "LANEKEEPER_KEY": key]
            let to = ["--url", daemon.address]
            let lane = try await BuiltProgram.run(["lane", "d1"] + to, in: folder, environment: away)
            #expect(lane.code == 0, "\(lane.errors)")
            #expect(lane.output.contains("d1 (app lineup, user u1)") && lane.output.contains("no token"))

            let json = try await BuiltProgram.run(["lane", "d1", "--json", "--key-file", "key"] + to, in: folder)
            #expect(json.code == 0 && json.output.hasPrefix("{\"device\":{"))

            let unknown = try await BuiltProgram.run(["lane", "d2", "--key-file", "key"] + to, in: folder)
            #expect(unknown.code == 1 && unknown.errors.count == 1)
            #expect(unknown.errors.first?.contains("404 Not Found: there is no device d2") == true)

            let moment = try await BuiltProgram.run(
                ["moment", "overtime", "--game", "g1", "--device", "d1", "--key-file", "key"] + to, in: folder)
            #expect(moment.code == 1 && moment.errors.first?.contains("(/game)") == true, "\(moment.errors)")

            let probe = try await BuiltProgram.run(["probe", "d1", "--key-file", "key"] + to, in: folder)
            #expect(
                probe.code == 1 && probe.errors.first?.contains("no push-to-start token") == true, "\(probe.errors)")

            let keyless = try await BuiltProgram.run(["lane", "d1"] + to, in: folder)
            #expect(keyless.code == 2 && keyless.errors.first?.contains("--key-file") == true)
            let wrong = try await BuiltProgram.run(
                ["lane", "d1"] + to, in: folder, environment: ["LANEKEEPER_KEY": "another"])
            #expect(wrong.code == 1 && wrong.errors.first?.contains(" 401 ") == true)

            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }
}
