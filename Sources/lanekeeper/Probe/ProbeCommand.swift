import CardRules
import Foundation
import Lanes
import Operations
import TLS

/// `lanekeeper probe DEVICE`: five starts, and what became of each.
struct ProbeCommand: Equatable, Sendable {
    var daemon = DaemonOptions()
    var device = ""
    var gateway: Gateway?
    var isLast = false
    var logFile: String?
    var bundle: String?
    var seconds = 1500

    static let usage = """
        lanekeeper probe DEVICE: sends the five start variants, a minute apart, and tells what became of each

          full (as every start is), no-alert, stale-date, no-input-push-token, bare-content. They cost five of the
          phone's starts of the night. Their cards are ended as soon as they are known.

          --gateway G             production or sandbox; without it the one that the phone's token belongs to
          --last                  sends nothing: the newest probe on the phone's timeline
          --device-log FILE       a log of the phone from Console.app, log show or idevicesyslog (- is standard input):
                                  what its lines say is set beside each start. Export it when the probe is over, and
                                  name it with --last
          --bundle ID             the app: lines that name another are left out (with --config it is known)
          --seconds N             waits no longer for what becomes of them, from 1 to 86400 (1500)
        \(DaemonOptions.usage)
          The key needs the scopes admin and devices. Exit 0 when the full variant became a card, else 1.
        """

    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "probe")
        while let word = arguments.next() {
            switch word {
            case "--gateway":
                let name = try arguments.value(of: word)
                guard let named = Gateway(rawValue: name) else {
                    throw WrongUse("--gateway takes production or sandbox, not \(name)")
                }
                gateway = named
            case "--last": isLast = true
            case "--device-log": logFile = try arguments.value(of: word)
            case "--bundle": bundle = try arguments.value(of: word)
            case "--seconds": seconds = try arguments.wholeNumber(of: word, in: 1...86_400)
            case _ where try daemon.take(word, &arguments): break
            case _ where !word.hasPrefix("-") && device.isEmpty && !word.isEmpty: device = word
            default: throw arguments.unknown(word)
            }
        }
        guard !device.isEmpty else { throw WrongUse("probe takes the id of a device; see lanekeeper probe --help") }
        guard gateway == nil || !isLast else { throw WrongUse("--last sends nothing: it has no --gateway") }
    }

    /// - Parameter tell: of progress.
    /// - Returns: what to say on standard output, and the exit code.
    /// - Throws: `WrongUse`, `ConfigurationFaults`, `DaemonFault`.
    func run(
        clock: any WallClock, tell: (String) -> Void, isStopped: () -> Bool = { StopSignals.wereSent }
    ) async throws -> (lines: [String], code: Int32) {
        // Before anything is sent: a log that cannot be read costs no start.
        let log = try logFile.map { try DeviceLogFile.read($0) }
        let configuration = try daemon.daemonConfiguration()
        return try await daemon.withDaemon(configuration) { calls in
            var result = isLast ? try await last(calls) : try await probe(calls, clock, tell, isStopped)
            if let log {
                let bundle = try await bundle(calls, configuration)
                let offset = TimeZone.current.secondsFromGMT(
                    for: Date(timeIntervalSince1970: result.sends.first?.at ?? 0))
                let linedUp = DeviceLogClock.lineUp(
                    log.entries, sends: result.sends.map(\.at), bundle: bundle, assumed: offset)
                result.add(linedUp.perSend)
                tell(log.remark(others: linedUp.others, isLinedUp: linedUp.perSend.contains { !$0.isEmpty }))
            }
            let lines =
                daemon.isJSON
                ? [jsonText(.object(["device": .string(device), "variants": result.json]))]
                : result.lines(withLog: log != nil)
            return (lines, result.isGood ? 0 : 1)
        }
    }

    private func timeline(_ calls: DaemonCalls, after: Int?, limit: Int) async throws(DaemonFault) -> JSONValue {
        var query = [(name: "limit", value: "\(limit)")]
        if let after { query.append((name: "after", value: "\(after)")) }
        return try await calls.get(ClientRequest.path(["v1", "devices", device, "timeline"], query: query))
    }

    private func last(_ calls: DaemonCalls) async throws -> ProbeResult {
        var result = ProbeResult()
        let entries = ProbeResult.newest(
            in: try await timeline(calls, after: nil, limit: 1000)["entries"]?.elements ?? [])
        guard !entries.isEmpty else {
            throw DaemonFault("there is no probe among the newest 1000 timeline entries of \(device)")
        }
        for entry in entries { result.take(entry) }
        return result
    }

    private func probe(
        _ calls: DaemonCalls, _ clock: any WallClock, _ tell: (String) -> Void, _ isStopped: () -> Bool
    ) async throws -> ProbeResult {
        var next = try await timeline(calls, after: nil, limit: 1)["next"]?.wholeNumber
        let begun = try await calls.post(
            "/v1/probes",
            .object(["device": .string(device), "gateway": gateway.map { .string($0.rawValue) } ?? .null]))
        let names = (begun["variants"]?.elements ?? []).compactMap { $0["name"]?.text }
        var result = names.isEmpty ? ProbeResult() : ProbeResult(names: names)
        let deadline = clock.now.advanced(bySeconds: Double(seconds))
        var told = Self.rows(of: result).map(\.words)
        while !result.isOver {
            do throws(DaemonFault) {
                let news = try await timeline(calls, after: next, limit: 1000)
                for entry in news["entries"]?.elements ?? [] { result.take(entry) }
                next = news["next"]?.wholeNumber ?? next
                let rows = Self.rows(of: result)
                for row in rows where !told.contains(row.words) { tell(row.line) }
                told = rows.map(\.words)
            } catch {
                // The probe goes on without us: what passes is waited out.
                guard error.isPassing, clock.now < deadline else { throw error }
                tell(error.description)
            }
            if result.isOver { break }
            guard clock.now < deadline, !isStopped() else {
                tell("not everything is known yet; lanekeeper probe \(device) --last tells it later")
                break
            }
            try await clock.sleep(until: clock.now.advanced(bySeconds: Self.lookSeconds))
        }
        return result
    }

    /// What can be told of each variant; its words stay the same when columns move.
    private static func rows(of result: ProbeResult) -> [(line: String, words: [Substring])] {
        result.lines(withLog: false).dropFirst().map { ($0, $0.split(separator: " ")) }
    }

    /// Between two looks at the timeline.
    private static let lookSeconds = 1.0

    private func bundle(_ calls: DaemonCalls, _ configuration: Configuration?) async throws -> String? {
        if let bundle { return bundle }
        guard let configuration, !configuration.apps.isEmpty else { return nil }
        let app = try await calls.get(ClientRequest.path(["v1", "devices", device]))["app"]?.text
        return configuration.apps.first { $0.id.text == app }?.bundleID
    }
}
