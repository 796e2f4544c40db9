import CardRules
import Foundation
import Postgres
import PrivatePostgres
import TLS
import Testing

@testable import lanekeeper

/// `serve` on PostgreSQL, as a process of its own.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(5))) struct PostgresDaemonTests {
    static let key = "made-up-key-of-a-test"

    /// - Parameter leaseSeconds: long where nothing is about leases: a busy machine must not lose one.
    static func configuration(_ gateway: CountingGateway, store: String, leaseSeconds: Double = 60) -> String {
        let digest = sha256(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return """
            { cluster: { leaseSeconds: \(leaseSeconds) }, log: { format: 'text', level: 'debug' }, store: { url: '\(store)' },
              http: { keys: [ { name: 'ops', scopes: ['devices', 'admin', 'feed'], sha256: '\(digest)' } ] },
              \(gateway.configuration) }
            """
    }

    static func device(_ number: Int) -> String {
        """
        {"user":"u\(number)","osVersion":"18.0","gateway":"production","pushToStartToken":"\(token(number))",
         "personalisation":{"version":1,"teams":{},"leagues":{},"minimumWorth":0,"maxGames":4}}
        """
    }

    static func token(_ number: Int) -> String {
        let hex = String(number, radix: 16)
        return String(repeating: "0", count: 64 - hex.count) + hex
    }

    static func tick(_ game: String, home: Int, away: Int = 0, at now: Int) -> String {
        """
        {"t":\(now),"type":"game","game":"\(game)","sport":"basketball","league":"NBA","home":"BOS","away":"NYK","startsAt":\(now - 600)}
        {"t":\(now),"type":"score","game":"\(game)","home":\(home),"away":\(away),"period":1,"clock":"10:00","phase":"live"}
        """
    }

    @Test
    func `serve on PostgreSQL: what was registered and started outlives a restart, and nothing is sent twice`()
        async throws
    {
        let cluster = try await PrivateCluster.shared()
        let database = cluster.freshName("serve")
        try await cluster.make(database)
        try await BuiltProgram.inFolder { folder in
            let gateway = try CountingGateway(in: folder)
            let text = Self.configuration(gateway, store: cluster.url(database: database))
            let first = try await BuiltProgram.run(
                ["serve", "--set", "store.url=\(cluster.url(database: database))"], in: folder)
            #expect(first.code == 1)
            #expect(first.errors.last?.contains("run `lanekeeper migrate`") == true, "\(first.errors)")

            var daemon = try await RunningDaemon(in: folder, configuration: text, flags: ["--migrate"])
            #expect(await daemon.logged("ready") != nil)
            _ = try await daemon.poll("/readyz") { $0.hasSuffix(" 200") }
            for number in 1...20 {
                let answer = try await daemon.put("/v1/devices/d\(number)", Self.device(number), key: Self.key)
                #expect(answer.hasSuffix(" 204"), "\(answer)")
            }
            let now = Int(Date().timeIntervalSince1970)
            #expect(
                try await daemon.post("/v1/ticks", Self.tick("g1", home: 10, at: now), key: Self.key).hasSuffix(" 200"))
            await gateway.waitForStarts(20)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))

            daemon = try await RunningDaemon(in: folder, configuration: text)
            #expect(await daemon.logged("ready") != nil)
            #expect(
                try await daemon.post("/v1/ticks", Self.tick("g1", home: 12, at: now + 1), key: Self.key).hasSuffix(
                    " 200"))
            let view = try await daemon.get("/v1/devices/d7", key: Self.key)
            #expect(view.contains("\"state\":\"believed\"") && view.hasSuffix(" 200"), "\(view)")
            // A token comes, and with it an update: the phone whose start was before the restart.
            let card = #"{"activity":"a7","updateToken":"aa07","gateway":"production","startedBy":"push"}"#
            #expect(try await daemon.put("/v1/devices/d7/cards/slate", card, key: Self.key).hasSuffix(" 204"))
            await gateway.wait(for: "update", 1)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
            #expect(gateway.pushes("start").count == 20)
            #expect(gateway.pushes("start").values.allSatisfy { $0 == 1 })
            await gateway.stop()
        }
    }

    @Test
    func `serve on PostgreSQL: while it is away no start leaves, updates go on, readyz says why, and it comes back`()
        async throws
    {
        let cluster = try await PrivateCluster.start()
        try await BuiltProgram.inFolder { folder in
            let gateway = try CountingGateway(in: folder)
            let text = Self.configuration(gateway, store: cluster.url())
            let daemon = try await RunningDaemon(in: folder, configuration: text, flags: ["--migrate"])
            #expect(await daemon.logged("ready") != nil)
            let now = Int(Date().timeIntervalSince1970)
            #expect(try await daemon.put("/v1/devices/d1", Self.device(1), key: Self.key).hasSuffix(" 204"))
            #expect(
                try await daemon.post("/v1/ticks", Self.tick("g1", home: 10, at: now), key: Self.key).hasSuffix(" 200"))
            await gateway.waitForStarts(1)
            let scored = Self.tick("g1", home: 12, at: now + 1)
            #expect(try await daemon.post("/v1/ticks", scored, key: Self.key).hasSuffix(" 200"))
            let card = #"{"activity":"a1","updateToken":"aa01","gateway":"production","startedBy":"push"}"#
            #expect(try await daemon.put("/v1/devices/d1/cards/slate", card, key: Self.key).hasSuffix(" 204"))
            await gateway.wait(for: "update", 1)
            let quiet = Self.device(2).replacingOccurrences(of: "\"user\":\"u2\",", with: "")
            #expect(try await daemon.put("/v1/devices/d2", quiet, key: Self.key).hasSuffix(" 204"))

            try await cluster.stop("immediate")
            let away = try await daemon.poll("/readyz") { $0.hasSuffix(" 503") }
            #expect(away.contains("the store"), "\(away)")
            #expect(try await daemon.get("/healthz").hasSuffix(" 200"))
            let refused = try await daemon.put("/v1/devices/d3", Self.device(3), key: Self.key)
            #expect(refused.hasSuffix(" 503"), "\(refused)")
            // Two moments' worth of news: a final score is priority 10 and goes at once.
            let tick = #"{"t":\#(now + 2),"type":"score","game":"g1","home":99,"away":98,"phase":"final"}"#
            #expect(try await daemon.post("/v1/ticks", tick, key: Self.key).hasSuffix(" 503"))
            await gateway.wait(for: "update", 2)
            #expect(gateway.pushes("start").count == 1)

            try await cluster.begin()
            _ = try await daemon.poll("/readyz") { $0.hasSuffix(" 200") }
            // The lanes try again within a second.
            while try await !daemon.put("/v1/devices/d3", Self.device(3), key: Self.key).hasSuffix(" 204") {
                try Task.checkCancellation()
            }
            #expect(
                try await daemon.post("/v1/ticks", Self.tick("g2", home: 10, at: now + 3), key: Self.key).hasSuffix(
                    " 200"))
            await gateway.waitForStarts(2)
            #expect(gateway.pushes("start")[Self.token(3)] == 1)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
            await gateway.stop()
        }
        try await cluster.stop("fast")
    }
}

extension PostgresDaemonTests {
    @Test
    func `known fault 15: sessions become read-only under it: nothing is promised or started, and it comes back`()
        async throws
    {
        let cluster = try await PrivateCluster.start()
        try await BuiltProgram.inFolder { folder in
            let gateway = try CountingGateway(in: folder)
            // An idle node notices when its lease cannot be renewed.
            let text = Self.configuration(gateway, store: cluster.url(), leaseSeconds: 10)
            let daemon = try await RunningDaemon(in: folder, configuration: text, flags: ["--migrate"])
            #expect(await daemon.logged("ready") != nil)
            _ = try await daemon.poll("/readyz") { $0.hasSuffix(" 200") }
            let now = Int(Date().timeIntervalSince1970)
            #expect(
                try await daemon.post("/v1/ticks", Self.tick("g1", home: 1, at: now), key: Self.key).hasSuffix(" 200"))
            #expect(try await daemon.put("/v1/devices/d1", Self.device(1), key: Self.key).hasSuffix(" 204"))
            await gateway.waitForStarts(1)

            // As after a failover to which the old connections cling: reads work, every write is refused (25006).
            try await cluster.run("ALTER SYSTEM SET default_transaction_read_only = on")
            try await cluster.run("SELECT pg_reload_conf()")
            let health = try await daemon.poll("/readyz") { answer in answer.hasSuffix(" 503") }
            #expect(health.contains("read-only"), "\(health)")
            let refused = try await daemon.put("/v1/devices/d2", Self.device(2), key: Self.key)
            #expect(refused.hasSuffix(" 503"), "never a 2xx without a row: \(refused)")
            let tick = try await daemon.post("/v1/ticks", Self.tick("g1", home: 2, at: now + 1), key: Self.key)
            #expect(tick.hasSuffix(" 503"))
            #expect(gateway.pushes("start").count == 1, "no start without its ledger row")

            try await cluster.run(
                "SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only")
            try await cluster.run("SELECT pg_reload_conf()")
            _ = try await daemon.poll("/readyz") { $0.hasSuffix(" 200") }
            while try await !daemon.put("/v1/devices/d2", Self.device(2), key: Self.key).hasSuffix(" 204") {
                try Task.checkCancellation()
            }
            await gateway.waitForStarts(2)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
            #expect(gateway.pushes("start").values.allSatisfy { $0 == 1 })
            await gateway.stop()
        }
        try await cluster.stop("fast")
    }
}

extension PrivateCluster {
    /// SQL that a transaction may not be around.
    func run(_ sql: String) async throws {
        let connection = try await PostgresConnection.open(try PostgresAddress(url()), settings: PostgresSettings())
        for statement in sql.split(separator: ";") {
            _ = try await connection.perform { (session) throws(PostgresError) in try session.query("\(statement)") }
        }
        connection.close()
        await connection.closed()
    }

    /// A database of one test.
    func make(_ name: String) async throws {
        let connection = try await PostgresConnection.open(try PostgresAddress(url()), settings: PostgresSettings())
        _ = try await connection.perform { (session) throws(PostgresError) in
            try session.query("CREATE DATABASE \(name)")
        }
        connection.close()
        await connection.closed()
    }
}
