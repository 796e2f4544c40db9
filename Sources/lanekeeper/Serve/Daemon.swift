import CardRules
import Foundation
import Intake
import LaneStore
import Lanes
import Operations
import PushPool
import TLS
import WebServer

/// The daemon as it is wired, for `serve` and for `demo`: store, push pool, lanes, calls, web server. Its parts are started
/// in that order and stopped in reverse by `LifeCycle`; each is made when it is started.
actor Daemon {
    /// What is known of it, for whoever answers for it.
    nonisolated let status: DaemonStatus
    nonisolated let metrics: SystemMetrics
    nonisolated let log: Log
    private nonisolated let surroundings: DaemonSurroundings
    private(set) var configuration: Configuration
    private let trace: SystemTrace
    private let zones = ZoneDirectory()
    private var store: OpenedStore?
    private var pool: PushPool?
    /// With which the pool was made.
    private var providerKeys: [PushPool.Configuration.Key] = []
    private let keys: APIKeys
    private let lanes = StoppableRun()
    private let feed = StoppableRun()
    private var web: WebServer?

    /// So long all of the stop may take; then the process ends as it is.
    static let stopSeconds = 28.0

    init(configuration: Configuration, log: Log, surroundings: DaemonSurroundings = DaemonSurroundings()) {
        self.configuration = configuration
        self.log = log
        self.surroundings = surroundings
        let metrics = SystemMetrics(version: programVersion)
        self.metrics = metrics
        status = DaemonStatus(metrics: metrics)
        keys = APIKeys(configuration.http.keys.compactMap(\.known))
        trace = SystemTrace(log: log, metrics: metrics)
    }

    /// In the order of their start, each with what its failure means.
    nonisolated func parts(of configuration: Configuration) -> [Part] {
        var parts = [
            Part("store", start: { try await self.startStore() }, stop: { await self.stopStore() }),
            Part("push pool", start: { try await self.startPool() }, stop: { await self.stopPool() }),
            // A lane that dies is started again by the supervisor; when they all end there is no daemon left.
            Part(
                "lanes", start: { try await self.startLanes() }, run: { try await self.runLanes() },
                stop: { await self.stopLanes() }),
            Part("calls", start: { await self.startCalls() }, run: { await self.status.calls?.run() }),
        ]
        if let table = configuration.feed.postgres {
            // Ticks may come by HTTP too, and cards need their ends: it waits for whoever mends the database.
            parts.append(
                Part(
                    "feed", onFailure: .restarts(RestartPlan()), run: { try await self.follow(table) },
                    stop: { await self.feed.stop() }))
        }
        parts.append(Part("web server", start: { try await self.startWeb() }, stop: { await self.stopWeb() }))
        return parts
    }

    // MARK: - Parts

    private func startStore() async throws {
        let opened = try await openStore(
            configuration, migrates: surroundings.migratesStore, clock: surroundings.machine,
            random: try surroundings.random(.store))
        let watched = WatchedStore(opened.store, clock: surroundings.machine, log: log)
        status.watch(store: { [weak status] in
            if let away = opened.trouble() { return "the store is away: \(away.words)" }
            if let trouble = watched.trouble { return trouble }
            if let trouble = opened.cluster?.trouble { return "the store cannot renew the lease: \(trouble.words)" }
            if opened.cluster?.isMember == false { return "it has no lease: the store does not answer in time" }
            let loading = status?.supervisor?.partitions.loading ?? 0
            return loading == 0 ? nil : "the lanes of \(loading) partitions are being loaded"
        })
        store = OpenedStore(store: watched, cluster: opened.cluster, close: opened.close)
        log.info("the store is open", [.store: .text(configuration.store.url.value.shown)])
    }

    private func stopStore() async { await store?.close() }

    private func startPool() async throws {
        providerKeys = try configuration.providerKeys()
        let pool = try PushPool(
            configuration: try configuration.pool(), clock: surroundings.clock,
            random: try surroundings.random(.pushPool), trace: trace)
        self.pool = pool
        metrics.watch(pool: { pool.snapshot })
    }

    private func stopPool() async { await pool?.stop() }

    private func startLanes() async throws {
        guard let store, let pool else { return }
        var system = Supervisor.Configuration(tuning: configuration.tuning, apps: configuration.apps.map(\.profile))
        system.shards = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let supervisor = Supervisor(
            configuration: system, store: store.store, cluster: store.cluster, pusher: pool, clock: surroundings.clock,
            random: try surroundings.random(.lanes), trace: surroundings.trace.map { BothTraces(trace, $0) } ?? trace,
            steady: surroundings.machine, zone: { [zones] in zones.zone(named: $0) })
        try await supervisor.restore()
        status.supervisor = supervisor
        // From here on partitions come, and their lanes are loaded while it runs.
        try store.cluster?.begin()
        metrics.watch(leasesOwned: { supervisor.partitions.owned })
        metrics.watch(lanes: { await supervisor.gauges() })
        if store.cluster == nil {
            log.info("the lanes are loaded", [.count: .whole(await supervisor.laneCount())])
        }
    }

    private nonisolated func runLanes() async throws {
        guard let supervisor = status.supervisor else { return }
        let surroundings = surroundings
        try await lanes.run {
            await withDiscardingTaskGroup { group in
                group.addTask { await supervisor.run() }
                if surroundings.passesTime { group.addTask { await supervisor.run(by: surroundings.clock) } }
            }
        }
    }

    /// Turns are finished, what waits is pushed within its time, verdicts come home and everything is written; then the
    /// lanes end. Lanes that never ran, or run no more, can finish nothing.
    private func stopLanes() async {
        guard let supervisor = status.supervisor, let pool, lanes.isRunning else { return }
        let drainSeconds = surroundings.drainSeconds
        // Each partition goes to another node as soon as its lanes are at rest.
        await supervisor.leave(withinSeconds: drainSeconds ?? 0)
        await withDiscardingTaskGroup { group in
            group.addTask { await pool.stop(drainSeconds: drainSeconds) }
            group.addTask { await supervisor.flush() }
        }
        // Verdicts that came last.
        await supervisor.flush()
        await lanes.stop()
    }

    /// The lanes end between two turns, as a crash would end them: nothing is finished or written any more, and the daemon
    /// goes down for it.
    func cutLanes() async { await lanes.stop() }

    private func startCalls() {
        guard let supervisor = status.supervisor else { return }
        status.calls = APIHandler(
            APIConfiguration(
                apps: configuration.apps.map(\.id), maximumBodyBytes: configuration.http.maxBodyBytes,
                version: programVersion),
            keys: keys, supervisor: supervisor, backend: status, zones: zones, clock: surroundings.clock)
    }

    private nonisolated func follow(_ table: ConfiguredFeed) async throws {
        guard let supervisor = status.supervisor else { return }
        let (log, clock, random) = (log, surroundings.clock, try surroundings.random(.feed))
        try await feed.run {
            let feed = PostgresFeed(
                settings: table.settings, clock: clock, random: random,
                sink: { lines in
                    for (line, change) in zip(lines, try await supervisor.tick(lines)) {
                        if case .refused(let why) = change { log.tell(refused: line, why) }
                    }
                }, notice: { log.tell($0) })
            try await feed.run()
        }
    }

    private func startWeb() async throws {
        guard let calls = status.calls else { return }
        var server = WebServerConfiguration()
        server.maximumConnections = configuration.http.maxConnections
        if let certificate = configuration.http.tls.certificateFile, let key = configuration.http.tls.keyFile {
            server.tls = .init(certificateFile: certificate.path, keyFile: key.path)
        }
        let wanted = configuration.http.address
        let (configuration, clock, metrics) = (server, surroundings.machine, metrics)
        let web = try await onOwnThread("web-start") {
            let found =
                try SocketAddress(ip: wanted.host, port: wanted.port).map { [$0] }
                ?? SocketAddress.resolve(host: wanted.host, port: wanted.port)
            guard let address = found.first else { throw AddressFault(host: wanted.host) }
            return try WebServer(
                on: address, configuration: configuration, handler: calls,
                clock: WebServerClock(
                    nanoseconds: { clock.uptime.nanoseconds }, unixSeconds: { clock.now.unixSeconds }),
                observe: { metrics.observe($0) })
        }
        self.web = web
        let address = "\(server.tls == nil ? "http" : "https")://\(web.address)"
        surroundings.listens(address)
        log.info("listening", [.address: .text(address)])
    }

    private func stopWeb() async { await web?.stopped() }

    private struct AddressFault: Error, CustomStringConvertible {
        let host: String
        var description: String { "http.address: \(host) has no address" }
    }

    // MARK: - While it runs

    /// Whether the lanes answer: asks each shard.
    nonisolated func answers() async -> Bool {
        guard let supervisor = status.supervisor else { return true }
        _ = await supervisor.laneCount()
        return true
    }

    /// Brings in what can change while it runs, and says what cannot.
    func apply(_ next: Configuration) async {
        let changes = configuration.changes(to: next)
        var waiting = changes.atRestart
        log.level = next.log.level
        if next.apns.perSecond != configuration.apns.perSecond {
            for gateway in Gateway.allCases { pool?.setRate(perSecond: next.apns.perSecond, of: gateway) }
        }
        if let supervisor = status.supervisor {
            waiting += await supervisor.retune(next.tuning).map { "tuning.\($0)" }
        }
        if next.tuning.gateway != configuration.tuning.gateway { waiting.append("tuning.gateway") }
        if next.apps == configuration.apps, (try? configuration.providerKeys()) != providerKeys {
            waiting.append("apps.keyFile")
        }
        if next.http.tls == configuration.http.tls {
            await reloadTLS(next.http.tls)
        } else {
            // Other paths are others' files; the same paths are read again.
            waiting.append("http.tls")
        }
        // What waits stays as it was, so that the next reading tells it again.
        var applied = configuration
        applied.log.level = next.log.level
        applied.apns.perSecond = next.apns.perSecond
        applied.tuning = next.tuning
        applied.http.keys = next.http.keys
        keys.replace(with: next.http.keys.compactMap(\.known))
        configuration = applied
        log.info("the configuration was read again", [.changed: .texts(changes.atRunTime)])
        if !waiting.isEmpty {
            log.warning("changes of the configuration wait for a restart", [.changed: .texts(waiting)])
        }
    }

    private func reloadTLS(_ files: Configuration.HTTP.TLS) async {
        guard let web else { return }
        do {
            try await onOwnThread("tls-reload") { try web.reload() }
        } catch {
            let paths = [files.certificateFile, files.keyFile].compactMap { $0?.path }.joined(separator: ", ")
            log.error(
                "the certificate cannot be read again; the old one stays", [.detail: .text("\(paths): \(error)")])
        }
    }
}

extension SystemMetrics {
    fileprivate func observe(_ served: WebServed) {
        observe(
            route: served.head.flatMap { served.status == 404 ? nil : routeName(of: $0.path) },
            method: served.head?.method, status: served.status, seconds: served.seconds)
    }
}

extension Configuration.APIKey {
    /// As the API knows it; a digest has been checked for its length.
    fileprivate var known: APIKey? { APIKey(name: name, scopes: Set(scopes), digest: sha256.value) }
}

extension Log {
    fileprivate func tell(refused line: SlateLine, _ why: SlateChange.Refused) {
        warning(
            "a row of the feed cannot be used", [.key: .text(line.game.text), .detail: .text(why.words)])
    }

    /// What an operator may want to know of the feed.
    fileprivate func tell(_ notice: FeedNotice) {
        switch notice {
        case .snapshotBegins: info("the feed reads the whole table: there was no slot yet")
        case .snapshotDone(let rows): info("the feed has read the table", [.rows: .whole(rows)])
        case .streaming: info("the feed follows the table")
        case .waiting(let trouble, let seconds):
            warning("the feed waits and tries again", [.reason: .text("\(trouble)"), .seconds: .number(seconds)])
        case .rowRejected(let game, let column, let detail):
            warning(
                "a row of the feed cannot be used",
                [.key: .text(game ?? ""), .cause: .text(column), .detail: .text(detail)])
        case .deleteWithoutGame:
            warning(
                "a row was deleted, and nothing says which",
                [.detail: "make the game's column part of the replica identity: ALTER TABLE ... REPLICA IDENTITY FULL"])
        case .truncated: warning("the feed's table was emptied")
        }
    }
}

/// The path with what varies left out: `/v1/devices/{}/selection`.
private func routeName(of path: [String]) -> String {
    "/" + path.prefix(8).map { routeWords.contains($0) ? $0 : "{}" }.joined(separator: "/")
}

private let routeWords: Set<String> = [
    "", "v1", "devices", "selection", "cards", "reports", "sessions", "ticks", "slate", "timeline", "events", "moments",
    "probes", "gateways", "pause", "resume", "healthz", "readyz", "metrics", "openapi.json",
]
