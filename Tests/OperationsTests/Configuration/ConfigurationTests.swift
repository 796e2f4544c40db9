import CardRules
import Foundation
import PushWire
import Testing

@testable import Operations

/// Reads a configuration that is written here; `files` are those it may name.
func read(
    _ text: String? = nil, sets: [String] = [], environment: [String: String] = [:], files: [String: String] = [:],
    path: String = "lk.json5"
) throws -> ReadConfiguration {
    var sources = ConfigurationSources()
    sources.sets = sets
    sources.environment = environment
    if let text { sources.file = ConfigurationSources.File(path: path, bytes: Array(text.utf8)) }
    return try Configuration.read(sources) { path in
        guard let text = files[path] else { throw NoFile() }
        return Array(text.utf8)
    }
}

struct NoFile: Error, CustomStringConvertible { let description = "there is no such file" }

private func faults(
    _ text: String? = nil, sets: [String] = [], environment: [String: String] = [:], files: [String: String] = [:]
) -> [String] {
    do {
        _ = try read(text, sets: sets, environment: environment, files: files)
        return []
    } catch let error as ConfigurationFaults {
        return error.faults.map(\.description)
    } catch {
        return ["\(error)"]
    }
}

private let app = """
    id: 'lineup', bundleID: 'com.example.lineup', teamID: 'TEAM123456', keyID: 'KEY1234567', keyFile: 'AuthKey.p8',
    slateAttributesType: 'LineupAttributes'
    """

@Suite struct ConfigurationTests {
    @Test func `configuration: nothing given is the defaults of api.md`() throws {
        let configuration = try read().configuration
        #expect(configuration == Configuration())
        #expect(configuration.http.address == HostPort(host: "127.0.0.1", port: 8480))
        #expect(configuration.store.url.value == .sqlite(path: "lanekeeper.db"))
        #expect(configuration.apns.perTokenPerSecond == 1 && configuration.apns.maxWaiting == 200_000)
        #expect(configuration.tuning == Tuning() && configuration.apps.isEmpty)
    }

    @Test
    func `configuration: a command line comes before the environment, that before the file, that before defaults`()
        throws
    {
        let text = "{ apns: { connections: 2, maxStreams: 20, perSecond: 200 } }"
        let environment = ["LANEKEEPER_APNS_MAX_STREAMS": "30", "LANEKEEPER_APNS_PER_SECOND": "300"]
        let apns = try read(text, sets: ["apns.perSecond=400"], environment: environment).configuration.apns
        #expect(apns.connections == 2 && apns.maxStreams == 30 && apns.perSecond == 400)
        #expect(apns.timeoutSeconds == 30)
    }

    @Test(arguments: [
        ("{\n http: {\n  adress: ':1' } }", "lk.json5:3: http.adress: no such key; address?"),
        ("{\n adress: ':1' }", "lk.json5:2: adress: no such key"),
        ("{\n address: ':1' }", "lk.json5:2: address: no such key; http.address?"),
        (
            "{\n http: { address: 8480 } }",
            "lk.json5:2: http.address: must be ADDRESS:PORT such as 127.0.0.1:8480; it is 8480"
        ),
        (
            "{ http: { maxBodyBytes:\n 3 } }",
            "lk.json5:2: http.maxBodyBytes: must be a whole number, 1024 to 67108864; it is 3"
        ),
        ("{ apns: 7 }", "lk.json5:1: apns: must be an object; it is 7"),
        (
            "{ cluster: { partitions: 32 } }",
            "lk.json5:1: cluster.partitions: must be a whole number, 64 to 64; it is 32"
        ),
        (
            "{ log: {\n level: 'loud' } }",
            "lk.json5:2: log.level: must be \"error\", \"warning\", \"info\", \"debug\"; it is \"loud\""
        ),
        (
            "{\n tuning: {\n reissue: {\n afterSecond: 2 } } }",
            "lk.json5:4: tuning.reissue.afterSecond: no such key; reissue.afterSeconds?"
        ),
        (
            "{ tuning: {\n card: { maxGames: 0 } } }",
            "lk.json5:2: tuning.card.maxGames: must be a whole number, 1 to 20"
        ),
        ("{ store: { url: 'mysql://x' } }", "lk.json5:1: store.url: must be sqlite:PATH or postgres://..."),
        ("{\n console: { enabled: 1 }", "lk.json5:2: the text ends in the middle of a value (column 25)"),
        (
            "{ http: {\n tls: { certificateFile: 'c.pem' } } }",
            "lk.json5:2: http.tls.keyFile: is missing: certificateFile and keyFile go together"
        ),
        (
            "{ apns: { gateways: { production: { url: 'http://x' } } } }",
            "lk.json5:1: apns.gateways.production.url: must be https://HOST or https://HOST:PORT; it is \"http://x\""
        ),
    ])
    func `configuration: a fault names the line, the key, and what would be right`(text: String, expected: String) {
        #expect(faults(text) == [expected])
    }

    @Test(arguments: [
        (
            "{ feed: {\n postgres: { table: 'g', columns: { game: 'id' } } } }",
            "lk.json5:2: feed.postgres.url: is missing: a libpq URL"
        ),
        (
            "{ feed: { postgres: { url: 'postgres://h/d', table: 'g',\n columns: { gmae: 'id' } } } }",
            "lk.json5:2: feed.postgres.columns.gmae: no such key; game?"
        ),
    ])
    func `configuration: what is wrong with the feed is told in the feed's words`(text: String, expected: String) {
        #expect(faults(text) == [expected])
    }

    @Test func `configuration: everything that is wrong is told at once, in the order of the lines`() {
        let found = faults("{\n log: { level: 1 },\n http: { tls: 3 },\n nonsense: {} }")
        #expect(found.count == 3)
        #expect(found.map { $0.prefix(11) } == ["lk.json5:2:", "lk.json5:3:", "lk.json5:4:"])
    }

    @Test(arguments: [
        (
            "http.maxConnections=many",
            "--set http.maxConnections: http.maxConnections: must be a whole number, 1 to 1000000; it is \"many\""
        ),
        ("http.maxConnection=5", "--set http.maxConnection: http.maxConnection: no such key; maxConnections?"),
        ("http.address", "--set http.address: must be key.path=value"),
        (
            "apps.3.bundleID=x",
            "--set apps.3.bundleID: apps.3.bundleID: leads nowhere: no list has such a place, and no value an inside"
        ),
        (
            "log.level.x=1",
            "--set log.level.x: log.level: must be \"error\", \"warning\", \"info\", \"debug\"; it is {\"x\":1}"
        ),
    ])
    func `configuration: a fault of the command line names it`(set: String, expected: String) {
        let text = "{ apps: [] }"
        #expect(faults(text, sets: [set]) == [expected])
    }

    @Test func `configuration: a fault of the environment names the variable, and a slip of the pen is remarked on`()
        throws
    {
        #expect(
            faults(environment: ["LANEKEEPER_HTTP_ADDRESS": "nowhere"]) == [
                "LANEKEEPER_HTTP_ADDRESS: http.address: must be ADDRESS:PORT such as 127.0.0.1:8480; it is \"nowhere\""
            ])
        let read = try read(environment: [
            "LANEKEEPER_HTTP_ADRESS": "1", "LANEKEEPER_PORT_8480_TCP_PROTO": "tcp", "HTTP_ADDRESS": "x",
        ])
        #expect(read.configuration == Configuration())
        #expect(read.remarks == ["LANEKEEPER_HTTP_ADRESS sets nothing; LANEKEEPER_HTTP_ADDRESS?"])
    }

    @Test func `configuration: texts are taken as they are, other values as JSON5`() throws {
        let configuration = try read(
            "{ apps: [ { \(app) } ] }",
            sets: [
                "cluster.node=1", "apns.perTokenPerSecond=.5", "console.enabled=false", "apps.0.keyFile=/k/AuthKey.p8",
                "tuning.reissue.afterSeconds=20", "tuning.night.rollsAt='05:00'", "log={level:'debug'}",
                "apns.caFile=null",
                "http.keys=[{name:'a',scopes:['feed'],sha256:'\(String(repeating: "0a", count: 32))'}]",
            ]
        ).configuration
        #expect(configuration.cluster.node == "1" && configuration.apns.perTokenPerSecond == 0.5)
        #expect(!configuration.console.enabled && configuration.log.level == .debug)
        #expect(configuration.apps[0].keyFile?.path == "/k/AuthKey.p8")
        #expect(configuration.tuning.reissue.afterSeconds == 20 && configuration.tuning.night.rollsAtMinute == 300)
        #expect(configuration.http.keys[0].sha256.value == [UInt8](repeating: 10, count: 32))
        #expect(configuration.apns.caFile == nil)
    }

    @Test func `configuration: of two that set one key the last counts`() throws {
        #expect(try read(sets: ["apns.connections=2", "apns.connections=3"]).configuration.apns.connections == 3)
    }

    @Test func `configuration: every key has a name of its own in the environment, tuning included`() {
        let names = Configuration.environmentNames
        #expect(names["LANEKEEPER_HTTP_ADDRESS"] == "http.address")
        #expect(names["LANEKEEPER_HTTP_MAX_BODY_BYTES"] == "http.maxBodyBytes")
        #expect(names["LANEKEEPER_TUNING_REISSUE_AFTER_SECONDS"] == "tuning.reissue.afterSeconds")
        #expect(names["LANEKEEPER_APNS_GATEWAYS_SANDBOX_URL"] == "apns.gateways.sandbox.url")
        #expect(names["LANEKEEPER_APNS_CA_FILE"] == "apns.caFile")
        #expect(names.count == Configuration.settings.count + TuningKey.all.count)
    }

    // MARK: - Apps

    @Test func `apps: texts may be the app's own, and gateways have keys of their own`() throws {
        let configuration = try read(
            """
            { apps: [ { id: 'a', bundleID: 'com.example.a', teamID: 'TEAM123456', slateAttributesType: 'A',
              gatewayKeys: { production: { keyID: 'PROD123456', keyFile: 'p.p8' }, sandbox: null },
              texts: { slateTitle: 'Look: {home}', sessionBody: { locKey: 'SINCE', locArgs: ['{since}'] } } } ] }
            """, path: "/etc/lk/lk.json5"
        ).configuration
        let app = try #require(configuration.apps.first)
        #expect(app.texts.slateTitle == .plain("Look: {home}"))
        #expect(app.texts.slateBody == .plain("Worth watching now"))
        #expect(app.texts.sessionBody == .localized(key: "SINCE", args: ["{since}"]))
        #expect(app.key(for: .production)?.keyFile.path == "/etc/lk/p.p8")
        #expect(app.key(for: .sandbox) == nil)
        #expect(app.profile.bundleID == "com.example.a")
    }

    @Test(arguments: [
        (
            "{ apps: [ {\n \(app), texts: { slateBody: '{score}' } } ] }",
            "only {home} and {away} can stand in an alert's text"
        ),
        ("{ apps: [ { \(app), texts: { sessionBody: '' } } ] }", "an alert's text must not be empty"),
        ("{ apps: [ { \(app) }, { \(app) } ] }", "apps.1.id: lineup is there already"),
        ("{ apps: [ { id: 'a' } ] }", "apps.0.bundleID: is missing: a bundle id such as com.example.app"),
        (
            "{ apps: [ { \(app), gatewayKeys: { production: { keyID: 'KEY1234567', keyFile: 'x' } } } ] }",
            "stands beside keyID and keyFile: it is one or the other"
        ),
        (
            "{ apps: [ { \(app.replacing("keyFile: 'AuthKey.p8',", with: "")) } ] }",
            "keyFile: is missing: keyID and keyFile go together"
        ),
        ("{ apps: [ { \(app.replacing("KEY1234567", with: "short")) } ] }", "apps.0.keyID: must be 10 of A-Z and 0-9"),
        (
            "{ http: { keys: [ { name: 'a', scopes: ['root'], sha256: '' } ] } }",
            "http.keys.0.scopes: must be a list of"
        ),
    ])
    func `apps: what cannot be is told with the app's place`(text: String, expected: String) {
        let found = faults(text)
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    // MARK: - Secrets

    @Test func `secrets: a value may stand in a file of its own, beside the file that names it`() throws {
        let digest = String(repeating: "ab", count: 32)
        let text = """
            { store: { url: { file: 'url.txt' } },
              http: { keys: [ { name: 'ops', scopes: ['admin'], sha256: { file: '/run/ops' } } ] } }
            """
        let files = ["/etc/lk/url.txt": "postgres://lk:hush@db/x\n", "/run/ops": "\(digest)\n"]
        let configuration = try read(text, files: files, path: "/etc/lk/lk.json5").configuration
        #expect(configuration.store.url.value == .postgres("postgres://lk:hush@db/x"))
        #expect(configuration.http.keys[0].sha256.value == [UInt8](repeating: 0xAB, count: 32))
    }

    @Test func `secrets: no fault and no printed configuration shows one`() throws {
        let url = "postgres://lk:hush@db.example.com/x?password=hush&sslmode=verify-full"
        let text =
            "{ store: { url: '\(url)' }, feed: { postgres: { url: 'host=a password=hush', table: 'g', columns: { game: 'id' } } } }"
        let configuration = try read(text).configuration
        for shown in [shortened(configuration.json), configuration.annotated, "\(configuration)"] {
            #expect(!shown.contains("hush"), "\(shown)")
        }
        #expect(configuration.annotated.contains("postgres://lk:***@db.example.com/x?password=***&sslmode=verify-full"))
        let bad = faults(
            "{ store: { url: 'hush' }, http: { keys: [ { name: 'a', scopes: ['feed'], sha256: 'hush' } ] } }")
        #expect(bad.count == 2 && !bad.joined().contains("hush"), "\(bad)")
        let missing = faults("{ store: { url: { file: 'no' } } }")
        #expect(missing == ["lk.json5:1: store.url: no cannot be read: there is no such file"])
    }

    // MARK: - Printing

    @Test func `configuration: what is printed reads as the same again, secrets apart`() throws {
        let text = """
            { apps: [ { \(app), texts: { slateBody: { locKey: 'K', locArgs: [] } } } ], log: { level: 'debug' },
              http: { address: '[::1]:0', keys: [ { name: 'a', scopes: ['feed', 'admin'],
              sha256: '\(String(repeating: "0f", count: 32))' } ] }, tuning: { starts: { gapSeconds: 1.5 } },
              feed: { postgres: { url: 'postgres://u@h/d', table: 's.games', columns: { game: 'id' } } } }
            """
        let configuration = try read(text).configuration
        #expect(configuration != Configuration())
        #expect(try read(configuration.annotated).configuration == configuration)
        #expect(try read(jsonText(configuration)).configuration == configuration)
    }

    @Test func `configuration: what changed is told apart by whether it can change now`() throws {
        let before = try read("{ http: { keys: [] } }").configuration
        let after = try read(
            """
            { log: { level: 'debug' }, apns: { perSecond: 5, connections: 1 }, tuning: { card: { maxGames: 2 } },
              store: { url: 'postgres://a:1@b/c' },
              http: { keys: [ { name: 'a', scopes: ['feed'], sha256: '\(String(repeating: "00", count: 32))' } ] } }
            """
        ).configuration
        let changes = before.changes(to: after)
        #expect(changes.atRunTime == ["http.keys", "apns.perSecond", "tuning", "log.level"])
        #expect(changes.atRestart == ["store.url", "apns.connections"])
        #expect(before.changes(to: before).atRunTime.isEmpty && before.changes(to: before).atRestart.isEmpty)
    }

    private func jsonText(_ configuration: Configuration) throws -> String {
        let data = try JSONEncoder().encode(configuration.json)
        return String(decoding: data, as: UTF8.self)
    }
}
