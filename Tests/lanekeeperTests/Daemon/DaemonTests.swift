import Foundation
import Operations
import TLS
import Testing

@testable import lanekeeper

/// The daemon as it is run: a process, its signals, its exit code.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil)) struct DaemonTests {
    private static let debug = "{ log: { level: 'debug', format: 'text' } }"

    @Test func `serve: it prints its address, answers, and SIGTERM ends it in order with 0`() async throws {
        try await BuiltProgram.inFolder { folder in
            let daemon = try await RunningDaemon(in: folder, configuration: Self.debug)
            #expect(daemon.address.hasPrefix("http://127.0.0.1:"))
            #expect(await daemon.logged("ready") != nil)
            #expect(try await daemon.get("/healthz").hasSuffix(" 200"))
            #expect(try await daemon.get("/readyz").hasSuffix(" 200"))
            let metrics = try await daemon.get("/metrics")
            for name in [
                "build_info", "lanes{state=\"standing\"}", "pushes_waiting", "lease_owned 64", "timers_overdue_seconds",
            ] {
                #expect(metrics.contains("\nlanekeeper_\(name)"), "\(name)")
            }
            #expect(try await daemon.get("/nowhere").hasSuffix(" 404"))
            daemon.send(SIGTERM)
            for part in ["web server", "calls", "lanes", "push pool", "store"] {
                #expect(await daemon.logged("a part is stopped")?.contains(part) == true, "\(part)")
            }
            #expect(await daemon.logged("stopped") != nil)
            #expect(await daemon.ended() == (0, false))
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("lanekeeper.db").path))
        }
    }

    @Test func `serve: SIGINT ends it too, and its store can be opened again at once`() async throws {
        try await BuiltProgram.inFolder { folder in
            for _ in 0..<2 {
                let daemon = try await RunningDaemon(in: folder, configuration: "{}")
                daemon.send(SIGINT)
                #expect(await daemon.ended() == (0, false))
            }
        }
    }

    @Test func `serve: SIGHUP says that another provider key in the same file wants a restart`() async throws {
        try await DaemonFixture.inPlace { fixture in
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: fixture.configuration())
            #expect(await daemon.logged("ready") != nil)
            try Data(try SigningKey.freshPEM().utf8).write(to: fixture.folder.appendingPathComponent("key.p8"))
            daemon.send(SIGHUP)
            #expect(await daemon.logged("was read again") != nil)
            daemon.send(SIGTERM)
            #expect(await daemon.logged("wait for a restart")?.contains("changed=apps.keyFile") == true)
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test
    func `serve: SIGHUP brings in what can change, says what cannot, and keeps what it has where the file is wrong`()
        async throws
    {
        try await BuiltProgram.inFolder { folder in
            let daemon = try await RunningDaemon(in: folder, configuration: "{ log: { format: 'text' } }")
            let file = folder.appendingPathComponent(RunningDaemon.configurationName)
            #expect(await daemon.logged("ready") != nil)

            try Data("{\n log: { levle: 'debug' } }".utf8).write(to: file)
            daemon.send(SIGHUP)
            let refused = await daemon.logged("cannot be read again")
            #expect(refused?.contains("lanekeeper.json5:2: log.levle: no such key; level?") == true, "\(refused ?? "")")

            try Data("{ log: { format: 'text', level: 'debug' }, apns: { perSecond: 7, connections: 2 } }".utf8)
                .write(to: file)
            daemon.send(SIGHUP)
            #expect(await daemon.logged("was read again")?.contains("apns.perSecond,log.level") == true)
            #expect(await daemon.logged("wait for a restart")?.contains("changed=apns.connections") == true)
            #expect(try await daemon.get("/metrics").contains("lanekeeper_apns_rate_limit{gateway=\"sandbox\"} 7"))

            daemon.send(SIGTERM)
            #expect(await daemon.logged("a part is stopped") != nil, "it logs at debug now")
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `serve: a key is good until a reload takes it away, and what was written outlives a restart`()
        async throws
    {
        try await BuiltProgram.inFolder { folder in
            let key = try KeyCommand(["new", "--scope", "devices"]).lines(secret: [UInt8](repeating: 7, count: 32))
            let app = """
                apps: [ { id: 'a', bundleID: 'com.example.a', teamID: 'TEAM123456', keyID: 'KEY1234567',
                    keyFile: 'key.p8', slateAttributesType: 'A' } ], log: { format: 'text' }
                """
            try Data(try SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("key.p8"))
            let text = "{ \(app), http: { keys: [ \(key[1]) ] } }"
            for round in 0..<2 {
                let daemon = try await RunningDaemon(in: folder, configuration: text)
                #expect(await daemon.logged("ready") != nil)
                #expect(try await daemon.get("/v1/devices/d1").hasSuffix(" 401"))
                if round == 0 {
                    #expect(try await daemon.get("/v1/devices/d1", key: key[0]).hasSuffix(" 404"))
                    #expect(try await daemon.put("/v1/devices/d1", "{\"user\":\"u\"}", key: key[0]).hasSuffix(" 204"))
                } else {
                    #expect(try await daemon.get("/v1/devices/d1", key: key[0]).contains("\"user\":\"u\""))
                    let file = folder.appendingPathComponent(RunningDaemon.configurationName)
                    try Data("{ \(app) }".utf8).write(to: file)
                    daemon.send(SIGHUP)
                    #expect(await daemon.logged("was read again")?.contains("http.keys") == true)
                    #expect(try await daemon.get("/v1/devices/d1", key: key[0]).hasSuffix(" 401"))
                }
                daemon.send(SIGTERM)
                #expect(await daemon.ended() == (0, false))
            }
        }
    }

    @Test func `serve: a second signal ends it at once, whatever it is about`() async throws {
        try await BuiltProgram.inFolder { folder in
            let daemon = try await RunningDaemon(in: folder, configuration: Self.debug)
            #expect(await daemon.logged("ready") != nil)
            // A request that has begun is waited for, for ten seconds.
            let link = try HalfRequest(to: daemon.address)
            #expect(try await daemon.get("/healthz").hasSuffix(" 200"), "what came before has been read")
            daemon.send(SIGTERM)
            #expect(await daemon.logged("a part is stopped")?.contains("web server") == true)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (SIGTERM, true))
            withExtendedLifetime(link) {}
        }
    }

    @Test func `serve: a wrong configuration ends it with 1, each fault with its line`() async throws {
        try await BuiltProgram.inFolder { folder in
            try Data("{\n http: { adress: 1 },\n log: { level: 'loud' } }".utf8)
                .write(to: folder.appendingPathComponent("c.json5"))
            let outcome = try await BuiltProgram.run(["serve", "--config", "c.json5"], in: folder)
            #expect(outcome.code == 1 && outcome.output.isEmpty)
            #expect(outcome.errors.count == 2, "\(outcome.errors)")
            #expect(outcome.errors.first == "lanekeeper: c.json5:2: http.adress: no such key; address?")
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("lanekeeper.db").path))
        }
    }

    @Test func `serve: what cannot start ends it with 1 and a reason, and what had started is let go`() async throws {
        try await BuiltProgram.inFolder { folder in
            let daemon = try await RunningDaemon(in: folder, configuration: "{}")
            let port = daemon.address.dropFirst("http://".count)
            let second = try await BuiltProgram.run(
                ["serve", "--set", "http.address=\(port)", "--set", "store.url=sqlite:other.db"], in: folder)
            #expect(second.code == 1)
            #expect(second.errors.last?.contains("Address already in use") == true, "\(second.errors)")
            let third = try await BuiltProgram.run(["serve", "--set", "http.address=127.0.0.1:0"], in: folder)
            #expect(third.code == 1)
            #expect(third.errors.last?.contains("in use by another lanekeeper") == true, "\(third.errors)")
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `serve: used wrongly it says how, with 2`() async throws {
        try await BuiltProgram.inFolder { folder in
            for words in [["--frob"], ["--set", "x"], ["--config"], ["--config", "nowhere.json5"]] {
                let outcome = try await BuiltProgram.run(["serve"] + words, in: folder)
                #expect(outcome.code == 2, "\(words)")
            }
        }
    }
}

/// A connection with half of a request's head.
private final class HalfRequest {
    private let socket: Socket

    init(to address: String) throws {
        let port = UInt16(address.split(separator: ":").last.map(String.init) ?? "") ?? 0
        socket = try Socket.connect(to: .loopback(port: port))
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(socket.descriptor, .write, token: 0)
        var events: [Epoll.Event] = []
        while events.isEmpty { try epoll.wait(timeoutMilliseconds: nil, into: &events) }
        try socket.checkConnected()
        let half = Array("GET /healthz HTTP/1.1\r\nHo".utf8)
        _ = try socket.write(half.span)
    }
}
