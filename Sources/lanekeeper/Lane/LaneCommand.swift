import CardRules

/// `lanekeeper lane DEVICE`: one phone's state, why it is as it is, what comes next, and its newest timeline entries.
struct LaneCommand: Equatable, Sendable {
    var daemon = DaemonOptions()
    var device = ""
    var limit = 20

    static let usage = """
        lanekeeper lane DEVICE: one phone's state, ledger, deadlines, the rule behind each card, and its timeline

          --limit N               timeline entries, the newest, from 1 to 1000 (20)
        \(DaemonOptions.usage)
          The key needs the scope devices. Times are UTC. Exit 1 when the daemon does not answer or has no such device.
        """

    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "lane")
        while let word = arguments.next() {
            switch word {
            case "--limit": limit = try arguments.wholeNumber(of: word, in: 1...1000)
            case _ where try daemon.take(word, &arguments): break
            case _ where !word.hasPrefix("-") && device.isEmpty && !word.isEmpty: device = word
            default: throw arguments.unknown(word)
            }
        }
        guard !device.isEmpty else { throw WrongUse("lane takes the id of a device; see lanekeeper lane --help") }
    }

    /// - Returns: what to say on standard output.
    /// - Throws: `WrongUse`, `ConfigurationFaults`, `DaemonFault`.
    func run() async throws -> [String] {
        try await daemon.withDaemon(try daemon.daemonConfiguration()) { calls in
            let state = try await calls.get(ClientRequest.path(["v1", "devices", device]))
            let timeline = try await calls.get(
                ClientRequest.path(["v1", "devices", device, "timeline"], query: [("limit", "\(limit)")]))
            if daemon.isJSON { return [jsonText(.object(["device": state, "timeline": timeline]))] }
            return LaneText.lines(state, timeline: timeline)
        }
    }
}
