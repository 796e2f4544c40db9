import CardRules
import Foundation
import Intake
import Measuring
import PrivatePostgres
import Simulation
import TLS

struct ApnsRun: Sendable {
    /// One tick, and what it made leave.
    struct Slot: Sendable {
        /// Of each phone reached, since the tick was called.
        var seconds: [Double] = []
        var pushes = 0
        var daemonCPUSeconds = 0.0
        var databaseCPUSeconds = 0.0
    }

    struct Outcome: Sendable {
        var start = Slot()
        var updates: [Slot] = []
        var refused = 0
        var registrationSeconds = 0.0
        var tokenSeconds = 0.0
        var residentBytes = 0
    }

    let program: String
    let phones: Int
    let changes: Int
    let seed: UInt64

    /// U3, and a little.
    private static let gapSeconds = 17.0

    func run() async throws -> Outcome {
        let folder = try StoreFolder()
        defer { folder.remove() }
        let cluster = try await PrivateCluster.start(
            settings: "fsync = on\nfull_page_writes = on\nshared_buffers = 256MB\nmax_wal_size = 4GB\n")
        let log = ArrivalLog(phones: phones)
        let gateway = try GatewayServer(
            backend: log, identity: try ServerIdentity.selfSigned(now: Int64(unixSeconds())), seed: seed,
            now: { WallTime(fractionalSeconds: unixSeconds()) })
        do {
            let outcome = try drive(folder.path, cluster, gateway, log)
            await gateway.stopped()
            return outcome
        } catch {
            await gateway.stopped()
            throw error
        }
    }

    private func drive(
        _ folder: String, _ cluster: PrivateCluster, _ gateway: GatewayServer, _ log: ArrivalLog
    ) throws -> Outcome {
        let daemon = try ServedDaemon(
            program: program, folder: folder, store: cluster.url() + "?sslmode=disable",
            gateways: .init(
                production: gateway.url(of: .production) ?? "", sandbox: gateway.url(of: .sandbox) ?? "",
                certificatePEM: gateway.certificatePEM),
            keyPEM: try SigningKey.freshPEM(), apns: "perSecond: 1000000,",
            others: "log: { level: 'error' }, tuning: { authority: { syncHoldSeconds: 0 } }")
        defer { daemon.end() }
        var outcome = Outcome()
        let crowd = CallCrowd(port: daemon.port, key: daemon.key, callers: 64)
        let zones = ZoneDirectory()
        var slate = MadeUpSlate()
        let made = MadeUpPhones(seed: seed, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        let ids = slate.ids
        // Announced and not begun: not in the window yet (S11).
        try tick(slate.opening().map { later($0) }, crowd)

        say("tick-to-apns: \(grouped(phones)) phones register")
        let began = uptimeSeconds()
        try crowd.send(phones) { phone in
            .json(
                "PUT", "/v1/devices/phone-\(phone)",
                """
                {"user":"user-\(phone)","gateway":"production","pushToStartToken":"\(hexText(ArrivalLog.token(phone: phone, kind: 1)))",\
                "osVersion":"18.1","appVersion":"5.2.1","timeZone":"\(made.zoneName(phone))"}
                """)
        }
        try crowd.send(phones) { phone in
            let games = made.followed(phone).map { "\"\(ids[$0].text)\"" }.joined(separator: ",")
            return .json(
                "PUT", "/v1/devices/phone-\(phone)/selection",
                "{\"games\":[\(games)],\"pinned\":null,\"muted\":[],\"syncedAt\":\(Int(unixSeconds()))}")
        }
        outcome.registrationSeconds = uptimeSeconds() - began

        say("tick-to-apns: all start")
        outcome.start = try slot(daemon, cluster, log, crowd, lines: slate.opening().map { live($0) }, wanted: phones)
        let started = uptimeSeconds()
        let tokensBegan = uptimeSeconds()
        try crowd.send(phones) { phone in
            .json(
                "PUT", "/v1/devices/phone-\(phone)/cards/slate",
                """
                {"activity":"activity-\(phone)","updateToken":"\(hexText(ArrivalLog.token(phone: phone, kind: 2)))",\
                "gateway":"production","startedBy":"push"}
                """)
        }
        outcome.tokenSeconds = uptimeSeconds() - tokensBegan
        outcome.residentBytes = daemon.residentBytes
        var last = max(started, uptimeSeconds())
        for change in 0..<changes {
            // U3: nobody is told more often.
            sleepSeconds(max(0, last + ApnsRun.gapSeconds - uptimeSeconds()))
            say("tick-to-apns: change \(change + 1) of \(changes)")
            let lines = slate.play(0..<MadeUpSlate.count, at: WallTime(fractionalSeconds: unixSeconds()))
            outcome.updates.append(try slot(daemon, cluster, log, crowd, lines: lines, wanted: phones))
            last = uptimeSeconds()
        }
        outcome.refused = log.refused
        return outcome
    }

    /// Sends a tick and waits until so many pushes have come, and no further ones for a while.
    private func slot(
        _ daemon: ServedDaemon, _ cluster: PrivateCluster, _ log: ArrivalLog, _ crowd: CallCrowd, lines: [SlateLine],
        wanted: Int
    ) throws -> Slot {
        log.begin()
        let (daemonBefore, databaseBefore) = (daemon.cpuSeconds, databaseCPUSeconds(cluster))
        let began = uptimeSeconds()
        try tick(lines, crowd)
        var seen = -1
        var quietSince = uptimeSeconds()
        let limit = began + 120
        while uptimeSeconds() < limit {
            let now = log.accepted
            if now != seen { (seen, quietSince) = (now, uptimeSeconds()) }
            if now >= wanted, uptimeSeconds() - quietSince > 0.5 { break }
            if now > 0, uptimeSeconds() - quietSince > 4 { break }
            sleepSeconds(0.02)
        }
        var slot = Slot()
        slot.pushes = log.accepted
        slot.seconds = log.arrivals.map { $0 - began }
        slot.daemonCPUSeconds = daemon.cpuSeconds - daemonBefore
        slot.databaseCPUSeconds = databaseCPUSeconds(cluster) - databaseBefore
        guard slot.pushes > 0 else {
            throw Failure("nothing came to the gateway in two minutes; the daemon: \(daemon.said)")
        }
        return slot
    }

    private func tick(_ lines: [SlateLine], _ crowd: CallCrowd) throws {
        let text = String(decoding: SlateLineWriter.text(of: lines), as: UTF8.self)
        try crowd.send(1) { _ in
            CallCrowd.Call(method: "POST", path: "/v1/ticks", type: "application/x-ndjson", body: text)
        }
    }

    private func databaseCPUSeconds(_ cluster: PrivateCluster) -> Double {
        let text = (try? String(contentsOfFile: "\(cluster.folder)/data/postmaster.pid", encoding: .utf8)) ?? ""
        guard let first = text.split(separator: "\n").first.flatMap({ Int32($0) }) else { return 0 }
        return ProcessTimes.cpuSeconds(ofTree: first)
    }

    /// The line as of now, its game an hour away.
    private func later(_ line: SlateLine) -> SlateLine { changed(line, phase: .pre, startsInSeconds: 3600) }

    /// The line as of now, its game under way.
    private func live(_ line: SlateLine) -> SlateLine { changed(line, phase: .live, startsInSeconds: -60) }

    private func changed(_ line: SlateLine, phase: Phase, startsInSeconds: Double) -> SlateLine {
        let now = WallTime(fractionalSeconds: unixSeconds())
        switch line {
        case .game(var patch):
            patch.at = now
            patch.startsAt = .value(now.advanced(bySeconds: startsInSeconds))
            return .game(patch)
        case .score(var patch):
            patch.at = now
            patch.phase = .value(phase)
            return .score(patch)
        }
    }

    /// A plot needs no more than a few hundred points.
    static func thin(_ points: [Plot.Point]) -> [Plot.Point] {
        let step = max(1, points.count / 200)
        return points.enumerated().compactMap {
            $0.offset % step == 0 || $0.offset == points.count - 1 ? $0.element : nil
        }
    }
}
