import Glibc
import Testing

@testable import WebServer

/// `LANEKEEPER_WEB_FUZZ` is the count of inputs (20,000 takes some ten seconds), `LANEKEEPER_SEED` the first seed.
@Suite struct FuzzTests {
    private static func setting(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// What a connection makes of some bytes: all that must not depend on their pieces.
    private struct Reading: Equatable {
        var statuses: [Int]
        var requests: [LenientReading.Request]
        var isFinished: Bool
        var seconds: [Double]
    }

    private func read(_ pieces: [[UInt8]]) -> Reading {
        var connection = PureConnection()
        for piece in pieces { connection.feed(piece) }
        return Reading(
            statuses: connection.served.map(\.status),
            requests: connection.seen.map {
                .init(method: $0.head.method, target: $0.head.path.joined(separator: "/"), body: $0.body)
            }, isFinished: connection.isFinished, seconds: connection.served.map(\.seconds))
    }

    @Test func `whatever comes, in whatever pieces: one reading, and no request that another reader would not see`() {
        let count = Self.setting("LANEKEEPER_WEB_FUZZ") ?? 2_000
        let first = Self.setting("LANEKEEPER_SEED") ?? Int.random(in: 0..<1_000_000_000)
        let corpus = WireCase.all.map(\.bytes).filter { $0.count < 3_000 }
        var accepted = 0
        for seed in first..<first + count {
            var random = TestGenerator(seed: UInt64(seed))
            let bytes = input(from: corpus, using: &random)
            let whole = read([bytes])
            let pieces = split(bytes, using: &random)
            #expect(read(pieces) == whole, "in pieces; replay: LANEKEEPER_WEB_FUZZ=1 LANEKEEPER_SEED=\(seed)")
            accepted += whole.requests.count
            for reader in LenientReading.all {
                let others = reader.requests(in: bytes)
                #expect(
                    agree(whole.requests, others), "hidden; replay: LANEKEEPER_WEB_FUZZ=1 LANEKEEPER_SEED=\(seed)")
            }
        }
        #expect(accepted > count / 8, "the inputs are not all refused; first seed \(first)")
    }

    /// Ours are the first of theirs, one by one.
    private func agree(_ ours: [LenientReading.Request], _ theirs: [LenientReading.Request]) -> Bool {
        guard ours.count <= theirs.count else { return false }
        return zip(ours, theirs).allSatisfy { ours, theirs in
            // The target is compared where it needs no decoding.
            ours.method == theirs.method && ours.body == theirs.body
                && (theirs.target.contains { "%?*:".contains($0) } || theirs.target == "/" + ours.target)
        }
    }

    private func input(from corpus: [[UInt8]], using random: inout TestGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) { bytes += corpus.randomElement(using: &random) ?? [] }
        let telling = Array("\r\n\0 :;,\t0129afx+-%/?[]@".utf8)
        let words = [
            "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "0\r\n\r\n", "Host: y\r\n",
            "chunked",
            "GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n",
        ].map { Array($0.utf8) }
        for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = telling.randomElement(using: &random) ?? 0
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(telling.randomElement(using: &random) ?? 0, at: place)
            case 4: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return bytes
    }

    private func split(_ bytes: [UInt8], using random: inout TestGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var place = 0
        let largest = [1, 3, 20, 400].randomElement(using: &random) ?? 1
        while place < bytes.count {
            let end = min(bytes.count, place + Int.random(in: 1...largest, using: &random))
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        return pieces
    }
}
