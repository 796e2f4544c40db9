import CardRules
import Foundation
import Intake
import Measuring
import Simulation
import TLS

/// What comes in: lines of a slate, and what phones report over HTTP.
struct IntakeRates: Sendable {
    private let options: Options
    private let rounds: Int
    private let seconds: Int

    init(_ options: Options) {
        self.options = options
        rounds = options.isQuick ? 2 : 5
        seconds = options.isQuick ? 1 : 4
    }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        report.conditions = [
            "lines: a made-up night of thirty games as NDJSON, one thread, \(rounds) rounds, medians of CPU time",
            "HTTP: the daemon with SQLite and its one web thread, wrk with one thread and 32 connections, \(seconds) s each, "
                + "\(rounds) rounds by turns; the daemon's CPU as the kernel counts it",
        ]
        try lines(&report)
        guard let program = options.program else { throw WrongUse("intake needs --program") }
        guard Child.exists("wrk") else {
            report.findings.append("HTTP left out: wrk is not installed")
            return report
        }
        try http(program, &report)
        return report
    }

    // MARK: - Lines

    private func lines(_ report: inout Report) throws {
        let night = NightGenerator(seed: options.seed, announcedAt: MadeUpSlate.evening, games: MadeUpSlate.count)
            .lines()
        let text = SlateLineWriter.text(of: night)
        let data = Data(text)
        var scanner: [Double] = []
        var floor: [Double] = []
        var foundation: [Double] = []
        var allocations = 0
        for round in 0..<rounds + 1 {
            let isCounting = round == rounds
            if isCounting { Allocations.begin() }
            var count = 0
            let took = try Usage.of { count = try SlateText(text.span).lines.count }
            if isCounting { allocations = Allocations.end().count }
            guard count == night.count else { throw Failure("\(count) of \(night.count) lines were read") }
            var feeds = 0
            let scanned = Usage.of { for byte in text where byte == 0x0a { feeds += 1 } }
            guard feeds > 0 else { throw Failure("no line ends") }
            var objects = 0
            let decoded = Usage.of {
                for line in data.split(separator: 0x0a) where (try? JSONSerialization.jsonObject(with: line)) != nil {
                    objects += 1
                }
            }
            guard objects == night.count else { throw Failure("\(objects) of \(night.count) lines are JSON") }
            guard round > 0 || rounds == 1 else { continue }  // warms up
            scanner.append(took.cpuSeconds)
            floor.append(scanned.cpuSeconds)
            foundation.append(decoded.cpuSeconds)
        }
        let count = Double(night.count)
        let megabytes = Double(text.count) / 1e6
        var table = Table(
            "Slate lines", ["what", "CPU ns a line", "lines a second and core", "MB a second", "allocations a line"])
        for (name, taken, each) in [
            ("the scanner, checked and typed", scanner, shown(Double(allocations) / count)),
            ("Foundation's JSONSerialization", foundation, "-"), ("a search for line feeds", floor, "-"),
        ] {
            let one = median(taken)
            table.rows.append([
                name, shown(one / count * 1e9), grouped(Int(count / one)), shown(megabytes / one), each,
            ])
        }
        report.tables.append(table)
        report.figure("scanner-over-foundation", median(scanner) / median(foundation), .ratio)
        report.figure("scanner-over-line-feeds", median(scanner) / median(floor), .ratio)
        report.figure("allocations-per-line", Double(allocations) / count, .count)
        report.figure("lines-per-second", count / median(scanner), .time)
    }

    // MARK: - HTTP

    private struct Load {
        let name: String
        let key: String
        let script: String?
        let path: String
        /// Lines, or reports, in one request.
        var each = 1.0
    }

    private func http(_ program: String, _ report: inout Report) throws {
        let loads = [
            Load(name: "GET /healthz", key: "healthz", script: nil, path: "/healthz"),
            Load(name: "POST /v1/ticks, one line", key: "tick-1", script: "ticks-1.lua", path: "/"),
            Load(name: "POST /v1/ticks, 100 lines", key: "tick-100", script: "ticks-100.lua", path: "/", each: 100),
            // The last: ticks would look at all that it leaves behind.
            Load(
                name: "PUT /v1/devices/{device}, each a new one", key: "registration", script: "devices.lua", path: "/"),
        ]
        var taken = [[WrkRun]](repeating: [], count: loads.count)
        for round in 0..<rounds {
            say("intake: round \(round + 1) of \(rounds)")
            let runs = try served(program, loads)
            for place in loads.indices { taken[place].append(runs[place]) }
        }
        var table = Table(
            "Over HTTP",
            ["call", "a second", "to healthz", "p50 ms", "p99", "daemon CPU us", "to healthz", "items a second"])
        let floor = taken[0]
        for (load, runs) in zip(loads, taken) {
            let rate = median(zip(runs, floor).map { $0.perSecond / $1.perSecond })
            let cpu = median(zip(runs, floor).map { $0.cpuMicroseconds / $1.cpuMicroseconds })
            table.rows.append([
                load.name, grouped(Int(median(runs.map(\.perSecond)))), shown(rate),
                shown(median(runs.map(\.p50Milliseconds))), shown(median(runs.map(\.p99Milliseconds))),
                shown(median(runs.map(\.cpuMicroseconds))), shown(cpu),
                grouped(Int(median(runs.map { $0.perSecond * load.each }))),
            ])
            report.figure("\(load.key)-per-second", median(runs.map(\.perSecond)), .time)
            guard load.script != nil else { continue }
            report.figure("\(load.key)-rate-over-healthz", rate, .ratio)
            report.figure("\(load.key)-cpu-over-healthz", cpu, .ratio)
        }
        report.tables.append(table)
        report.figure("refused", Double(taken.joined().map(\.refused).reduce(0, +)), .count)
        report.conditions.append("answers other than 200 and 204: \(taken.joined().map(\.refused).reduce(0, +))")
    }

    /// Each load once, at a daemon that nobody has called before.
    private func served(_ program: String, _ loads: [Load]) throws -> [WrkRun] {
        let folder = try StoreFolder()
        defer { folder.remove() }
        // Nobody is pushed to: no phone has chosen a game, and nothing listens there.
        let identity = try ServerIdentity.selfSigned(now: Int64(unixSeconds()))
        let daemon = try ServedDaemon(
            program: program, folder: folder.path, store: nil,
            gateways: .init(
                production: "https://127.0.0.1:1", sandbox: "https://127.0.0.1:1",
                certificatePEM: identity.certificatePEM),
            keyPEM: try SigningKey.freshPEM(), others: "log: { level: 'error' }")
        defer { daemon.end() }
        try scripts(key: daemon.key, in: folder.path)
        try announce(at: daemon, in: folder.path)
        return try loads.enumerated().map { place, load in
            try WrkRun.run(daemon, in: folder.path, script: load.script, path: load.path, seconds: seconds, salt: place)
        }
    }

    private func announce(at daemon: ServedDaemon, in folder: String) throws {
        try Data(SlateLineWriter.text(of: MadeUpSlate().opening())).write(
            to: URL(fileURLWithPath: "\(folder)/opening.ndjson"))
        _ = try Child.run(
            "curl",
            [
                "-sf", "-H", "Authorization: Bearer \(daemon.key)", "-H", "Content-Type: application/x-ndjson",
                "--data-binary", "@opening.ndjson", daemon.address + "/v1/ticks",
            ], in: folder)
    }

    private func scripts(key: String, in folder: String) throws {
        let end = """
            done = function(summary, latency, requests)
              io.write(string.format("RESULT %d %d %d %f %f\\n", summary.requests, summary.duration,
                summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write
                + summary.errors.timeout, latency:percentile(50), latency:percentile(99)))
            end

            """
        try end.write(toFile: "\(folder)/static.lua", atomically: false, encoding: .utf8)
        let devices = """
            local n = 0
            local salt = os.getenv("SALT")
            local headers = { ["Authorization"] = "Bearer \(key)", ["Content-Type"] = "application/json" }
            request = function()
              n = n + 1
              local token = string.format("%08x", n) .. salt .. string.rep("0", 152 - #salt)
              if #token % 2 == 1 then token = token .. "0" end
              return wrk.format("PUT", "/v1/devices/bench-" .. salt .. "-" .. n, headers,
                '{"user":"user-' .. n .. '","gateway":"production","pushToStartToken":"' .. token ..
                '","osVersion":"18.1","appVersion":"5.2.1","timeZone":"America/New_York","sound":true}')
            end

            """
        try (devices + end).write(toFile: "\(folder)/devices.lua", atomically: false, encoding: .utf8)
        for lines in [1, 100] {
            let ticks = """
                local n = 0
                local headers = { ["Authorization"] = "Bearer \(key)", ["Content-Type"] = "application/x-ndjson" }
                request = function()
                  local body = {}
                  for line = 1, \(lines) do
                    n = n + 1
                    body[line] = string.format('{"t":%d.%03d,"type":"score","game":"nba-2026-01-10-h%02d-a%02d","home":%d,' ..
                      '"away":%d,"period":3,"clock":"%d:%02d","phase":"live"}', os.time(), n % 1000, line % 30, line % 30, n % 130,
                      n % 127, n % 12, n % 60)
                  end
                  return wrk.format("POST", "/v1/ticks", headers, table.concat(body, "\\n"))
                end

                """
            try (ticks + end).write(toFile: "\(folder)/ticks-\(lines).lua", atomically: false, encoding: .utf8)
        }
    }
}

/// One run of wrk, and what the daemon took for it.
struct WrkRun {
    let perSecond: Double
    let refused: Int
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    let cpuMicroseconds: Double

    static func run(
        _ daemon: ServedDaemon, in folder: String, script: String?, path: String, seconds: Int, salt: Int
    ) throws -> WrkRun {
        let before = daemon.cpuSeconds
        let text = try Child.run(
            "SALT=\(salt)",
            ["wrk", "-t1", "-c32", "-d\(seconds)s", "-s", script ?? "static.lua", daemon.address + path], in: folder)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RESULT ") }) else {
            throw Failure("wrk said \(text.suffix(1000))")
        }
        let words = line.split(separator: " ").compactMap { Double($0) }
        guard words.count == 5, words[0] > 0 else { throw Failure("wrk said \(line); the daemon: \(daemon.said)") }
        return WrkRun(
            perSecond: words[0] / (words[1] / 1e6), refused: Int(words[2]), p50Milliseconds: words[3] / 1000,
            p99Milliseconds: words[4] / 1000, cpuMicroseconds: (daemon.cpuSeconds - before) / words[0] * 1e6)
    }
}
