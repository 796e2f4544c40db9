internal import CardRules
internal import Intake
internal import Lanes
internal import PushWire

extension Configuration {
    /// Every key there is, in the order in which the annotated configuration shows them.
    static let settings: [Setting<Configuration>] = [
        .secret(
            "store.url", \.store.url,
            "where lanes are kept: sqlite:PATH (from the working directory), or postgres://USER@HOST/DB?sslmode=verify-full",
            .atRestart, expected: "sqlite:PATH or postgres://...", parse: { StoreURL($0) }, print: { $0.shown }),
        .text(
            "http.address", \.http.address, "where the HTTP API and the console listen; port 0 takes any free one",
            .atRestart, expected: "ADDRESS:PORT such as 127.0.0.1:8480", parse: { HostPort($0) },
            print: { "\($0)" }),
        .optionalFile(
            "http.tls.certificateFile", \.http.tls.certificateFile,
            "PEM, the server's certificate first; with keyFile the API speaks TLS only", .atRunTime),
        .optionalFile(
            "http.tls.keyFile", \.http.tls.keyFile, "PEM, the certificate's private key", .atRunTime),
        .list(
            "http.keys", \.http.keys, "who may call the API; `lanekeeper key new` prints a key and its line for here",
            .atRunTime, of: APIKey.settings, empty: APIKey(), judge: { _, _, _ in }
        ).with(
            example: .object([
                "name": .string("ops"), "scopes": .array(["feed", "devices", "admin"].map { .string($0) }),
                "sha256": .string(String(repeating: "0", count: 64)),
            ])),
        .whole(
            "http.maxBodyBytes", \.http.maxBodyBytes, "a longer body is answered 413", .atRestart,
            in: 1024...67_108_864),
        .whole(
            "http.maxConnections", \.http.maxConnections, "connections open at a time; more are turned away",
            .atRestart, in: 1...1_000_000),
        .list(
            "apps", \.apps, "the iOS apps served", .atRestart, of: App.settings, empty: App(),
            judge: { $0.judge(at: $1, &$2) }
        ).with(example: App.example),
        .text(
            "apns.gateways.production.url", \.apns.production, "where pushes for production tokens go", .atRestart,
            expected: "https://HOST or https://HOST:PORT", parse: { GatewayURL($0) }, print: { "\($0)" }),
        .text(
            "apns.gateways.sandbox.url", \.apns.sandbox, "where pushes for sandbox tokens go", .atRestart,
            expected: "https://HOST or https://HOST:PORT", parse: { GatewayURL($0) }, print: { "\($0)" }),
        .optionalFile(
            "apns.caFile", \.apns.caFile, "PEM, certificates to trust instead of the system's: for simulated gateways",
            .atRestart),
        .whole(
            "apns.connections", \.apns.connections, "to each gateway with each key; a drained one may linger",
            .atRestart, in: 1...100),
        .whole(
            "apns.maxStreams", \.apns.maxStreams, "requests in flight on one connection, whatever Apple allows",
            .atRestart, in: 1...100_000),
        .whole(
            "apns.maxWaiting", \.apns.maxWaiting, "pushes without a verdict that are held; beyond, updates are dropped",
            .atRestart, in: 100...10_000_000),
        .number(
            "apns.perSecond", \.apns.perSecond, "pushes a second to one gateway", .atRunTime, in: 0.01...1_000_000),
        .number(
            "apns.perTokenPerSecond", \.apns.perTokenPerSecond,
            "pushes a second to one device token, after a burst of 3; ends never wait; 0 is no limit", .atRestart,
            in: 0...1000),
        .number(
            "apns.timeoutSeconds", \.apns.timeoutSeconds,
            "how long a push waits, and then how long its answer may take",
            .atRestart, in: 1...600),
        .optionalText(
            "cluster.node", \.cluster.node, "this node's name, no other node's; null takes the host's", .atRestart,
            expected: "a name of 1 to 128 of A-Z a-z 0-9 . _ : -", where: { AppID($0) != nil }),
        .whole(
            "cluster.partitions", \.cluster.partitions,
            "what devices hash to; it stands in the store and cannot be another yet", .atRestart,
            in: partitionCount...partitionCount),
        .number(
            "cluster.leaseSeconds", \.cluster.leaseSeconds,
            "after so long without a sign a node has lost its partitions",
            .atRestart, in: 1...600),
        ConfiguredFeed.setting,
        Setting(
            name: "tuning",
            purpose: "the numbers of the rules; the rule stands behind each; night and gateway want a restart",
            change: .atRunTime,
            expected: "an object",
            read: { json, pointer, root, reading in
                do throws(TuningPlaceFault) {
                    root.tuning = try TuningText.tuning(json, at: pointer)
                } catch {
                    reading.fault(at: error.pointer, error.what)
                }
            }, shown: { $0.tuning.json }),
        .choice("log.level", \.log.level, "the least that is written: error, warning, info or debug", .atRunTime),
        .choice("log.format", \.log.format, "json, text, or auto: text on a terminal", .atRestart),
        .flag("console.enabled", \.console.enabled, "the page at /", .atRestart),
    ]

    /// What two values together make impossible.
    func judge(_ reading: inout ConfigurationReading) {
        if (http.tls.certificateFile == nil) != (http.tls.keyFile == nil) {
            let missing = http.tls.keyFile == nil ? "keyFile" : "certificateFile"
            reading.fault(
                at: JSONPointer(["http", "tls", missing]), "is missing: certificateFile and keyFile go together")
        }
        tellTwice(apps.map(\.id.text), "id", below: "apps", &reading)
        tellTwice(apps.map(\.bundleID), "bundleID", below: "apps", &reading)
        tellTwice(http.keys.map(\.name), "name", below: "http.keys", &reading)
    }

    private func tellTwice(
        _ values: [String], _ key: String, below list: String, _ reading: inout ConfigurationReading
    ) {
        for (index, value) in values.enumerated() where values[..<index].contains(value) {
            let steps = list.split(separator: ".").map(String.init) + ["\(index)", key]
            reading.fault(at: JSONPointer(steps), "\(value) is there already")
        }
    }
}
