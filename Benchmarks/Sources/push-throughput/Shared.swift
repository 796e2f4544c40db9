import Foundation
import Measuring

extension Report {
    /// As every benchmark reports, for thresholds and for whoever gathers all of them.
    private var shared: Measuring.Report {
        var shared = Measuring.Report(
            peerName == nil ? "push-throughput" : "peers",
            subject: "the push pool beside other clients against one gateway in another process")
        shared.conditions = [
            "\(pushes) pushes a round, \(connections) connections with \(streams) in flight each, \(rounds.count) rounds by turns"
        ]
        shared.figure("requests-per-cpu-second-over-h2load", ratio, .ratio)
        shared.figure("bytes-per-push", pool.bytesWrittenPerRequest, .bytes)
        if let overPeer { shared.figure("requests-per-cpu-second-over-peer", overPeer, .ratio) }
        shared.figure("requests-per-cpu-second", pool.requestsPerCPUSecond, .time)
        return shared
    }

    func write(to folder: String?) throws {
        guard let folder else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = shared.markdown() + "\n" + table() + "\n"
        try text.write(toFile: "\(folder)/\(shared.benchmark).md", atomically: true, encoding: .utf8)
        try shared.json().write(toFile: "\(folder)/\(shared.benchmark).json", atomically: true, encoding: .utf8)
    }

    /// - Returns: whether every threshold of the file holds; what does not is said.
    func holds(_ file: String?) throws -> Bool {
        guard let file else { return true }
        let broken = try Thresholds.read(file).broken(by: shared)
        for words in broken { FileHandle.standardError.write(Data("push-throughput: BROKEN \(words)\n".utf8)) }
        return broken.isEmpty
    }
}
