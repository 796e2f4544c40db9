import Foundation

/// The figures of all rounds for people, and for programs.
struct Report: Encodable {
    struct Client: Encodable {
        /// Medians of the rounds.
        let requestsPerCPUSecond: Double
        let requestsPerSecond: Double
        let cpuMicrosecondsPerRequest: Double
        let userShare: Double
        let bytesWrittenPerRequest: Double
    }

    let pushes: Int
    let connections: Int
    let streams: Int
    let rounds: [Round]
    let h2load: Client
    let pool: Client
    var peer: Client?
    var peerName: String?
    /// Median of the rounds: the pool's requests per CPU second to the peer's.
    var overPeer: Double?
    /// Median of the rounds' own ratios of requests per CPU second: ours to h2load's. 1 is as good as h2load.
    let ratio: Double

    init(_ rounds: [Round], _ options: Options) {
        (pushes, connections, streams) = (options.pushes, options.connections, options.streams)
        self.rounds = rounds
        h2load = Self.client(rounds.map(\.h2load), options.pushes)
        pool = Self.client(rounds.map(\.pool), options.pushes)
        ratio = median(rounds.map { $0.h2load.cpuSeconds / $0.pool.cpuSeconds })
        let peers = rounds.compactMap(\.peer)
        guard let name = options.peer, !peers.isEmpty else { return }
        peer = Self.client(peers, options.peerPushes)
        peerName = name
        let share = Double(options.pushes) / Double(options.peerPushes)
        overPeer = median(
            rounds.compactMap { round in round.peer.map { $0.cpuSeconds * share / round.pool.cpuSeconds } })
    }

    private static func client(_ runs: [Measured], _ pushes: Int) -> Client {
        let count = Double(pushes)
        return Client(
            requestsPerCPUSecond: median(runs.map { count / $0.cpuSeconds }),
            requestsPerSecond: median(runs.map { count / $0.wallSeconds }),
            cpuMicrosecondsPerRequest: median(runs.map { $0.cpuSeconds / count * 1e6 }),
            userShare: median(runs.map { $0.userSeconds / $0.cpuSeconds }),
            bytesWrittenPerRequest: median(runs.map { Double($0.bytesWritten) / count }))
    }

    func table() -> String {
        var lines = [
            "\(pushes) pushes a round, \(connections) connections with \(streams) in flight each, \(rounds.count) rounds, "
                + "medians.",
            "",
            "| client | requests per CPU second | CPU us per request | of it user | requests per second | bytes written per request |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        let peers = peer.flatMap { client in peerName.map { [($0, client)] } } ?? []
        for (name, client) in [("h2load", h2load), ("push pool", pool)] + peers {
            lines.append(
                "| \(name) | \(whole(client.requestsPerCPUSecond)) | \(tenths(client.cpuMicrosecondsPerRequest)) | "
                    + "\(whole(client.userShare * 100)) % | \(whole(client.requestsPerSecond)) | "
                    + (client.bytesWrittenPerRequest > 0 ? "\(whole(client.bytesWrittenPerRequest)) |" : "- |"))
        }
        let all = rounds.map { hundredths($0.h2load.cpuSeconds / $0.pool.cpuSeconds) }.joined(separator: ", ")
        lines.append("")
        lines.append("The pool does \(hundredths(ratio)) of h2load's requests per CPU second (rounds: \(all)).")
        if let peerName, let overPeer {
            lines.append("")
            lines.append("It does \(tenths(overPeer)) times as many as \(peerName), start of the process included.")
        }
        return lines.joined(separator: "\n")
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

private func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return 0 }
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
}

private func whole(_ value: Double) -> String { String(Int(value.rounded())) }
private func tenths(_ value: Double) -> String { String(format: "%.1f", value) }
private func hundredths(_ value: Double) -> String { String(format: "%.2f", value) }
