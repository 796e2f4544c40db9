import CardRules
import Foundation
import HTTP2
import PushWire
import Testing

@testable import PushPool
@testable import Simulation

/// Bytes from a peer that is broken or hostile. A short walk by default; `LANEKEEPER_FUZZ_SECONDS` makes it as long as
/// wanted. A failure prints its seed.
@Suite struct FuzzTests {
    /// Calls `body` with one seed after the other.
    private static func walk(_ rounds: UInt64, _ body: (UInt64) throws -> Void) rethrows {
        if let text = ProcessInfo.processInfo.environment["LANEKEEPER_FUZZ_SECONDS"], let seconds = Double(text) {
            let end = ContinuousClock.now.advanced(by: .seconds(seconds))
            var seed = UInt64(Date().timeIntervalSince1970) << 20
            while ContinuousClock.now < end {
                try body(seed)
                seed &+= 1
            }
        } else {
            for seed in 0..<rounds { try body(seed) }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else {
                bytes = random.bytes(Int.random(in: 0...40, using: &random))
                return
            }
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0...5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 4: bytes.removeSubrange(place...)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...30, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
    }

    @Test func `an answer's body may be anything: the status decides, and the reason is short and printable`() {
        let samples = [
            #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Unregistered","timestamp":1795000000000}"#,
            #"{"timestamp":1e400,"reason":"\u0000\ud800"}"#, "[[[[", "",
        ]
        Self.walk(20_000) { seed in
            var random = SeededGenerator(seed: seed)
            var body = Array(samples[Int.random(in: samples.indices, using: &random)].utf8)
            Self.mutate(&body, &random)
            let status = Int.random(in: 100...999, using: &random)
            switch verdict(status: status, body: body) {
            case .accepted: #expect((200..<300).contains(status), "seed \(seed)")
            case .refused(let refusal):
                #expect(!(200..<300).contains(status) && refusal.status == status, "seed \(seed)")
                #expect(refusal.reason.word.utf8.count <= 64, "seed \(seed)")
                #expect(refusal.reason.word.utf8.allSatisfy { (0x20..<0x7f).contains($0) }, "seed \(seed)")
                _ = AnswerMeaning(.refused(refusal))
            case .notSent, .unknown: Issue.record("seed \(seed)")
            }
            _ = HTTPDate.unixSeconds(String(decoding: body, as: UTF8.self))
            _ = printable(body)
        }
    }

    @Test func `a peer's bytes may be anything: no crash, and each request ends exactly once`() throws {
        let spoken = try Self.conversation()
        try Self.walk(3000) { seed in
            var random = SeededGenerator(seed: seed)
            var bytes = spoken
            Self.mutate(&bytes, &random)
            let client = try Self.client()
            var ended: [UInt64: Int] = [:]
            var events: [ClientEvent] = []
            var output: [UInt8] = []
            func note() {
                client.takeEvents(into: &events)
                for case .closed(let end) in events { ended[end.tag, default: 0] += 1 }
            }
            var place = 0
            var tags: UInt64 = 0
            while place < bytes.count {
                let end = min(bytes.count, place + Int.random(in: 1...200, using: &random))
                let piece = Array(bytes[place..<end])
                guard (try? client.receive(piece.span)) != nil else { break }
                note()
                while tags < 5, client.canSubmit {
                    tags += 1
                    try client.submit(Self.request, body: [1, 2, 3], tag: tags)
                }
                guard (try? client.collect(into: &output, upTo: 1 << 20)) != nil else { break }
                place = end
            }
            note()
            client.abandon()
            note()
            #expect(
                ended.count == Int(tags) && ended.values.allSatisfy { $0 == 1 }, "seed \(seed): \(ended) of \(tags)")
        }
    }

    private static let request: HeaderBlock = {
        var block = HeaderBlock()
        block.append(":method", "POST")
        block.append(":scheme", "https")
        block.append(":authority", "a")
        block.append(":path", "/3/device/00", .literal)
        return block
    }()

    private static func client() throws -> ClientSession {
        let client = try ClientSession()
        var output: [UInt8] = []
        try client.collect(into: &output)
        return client
    }

    /// What a server says to five requests: answers, a reset, new SETTINGS, PING, GOAWAY.
    private static func conversation() throws -> [UInt8] {
        let server = try ServerSession(maxConcurrentStreams: 100)
        let client = try ClientSession()
        var toServer: [UInt8] = []
        var toClient: [UInt8] = []
        var spoken: [UInt8] = []
        var events: [ServerEvent] = []
        func exchange() throws {
            toServer = []
            try client.collect(into: &toServer, upTo: 1 << 20)
            try server.receive(toServer.span)
            toClient = []
            try server.collect(into: &toClient, upTo: 1 << 20)
            spoken += toClient
            try client.receive(toClient.span)
        }
        try exchange()
        for tag in 1...5 as ClosedRange<UInt64> { try client.submit(request, body: [1, 2, 3], tag: tag) }
        try exchange()
        server.takeEvents(into: &events)
        var headers = HeaderBlock()
        headers.append("apns-id", "0f8e4c1a-0000-4000-8000-00000000000a", .literal)
        headers.append("content-type", "application/json")
        try server.respond(to: 1, status: 200, headers: headers)
        try server.respond(to: 3, status: 400, headers: headers, body: Array(#"{"reason":"BadDeviceToken"}"#.utf8))
        try server.reset(5, .internalError)
        try server.announce(maxConcurrentStreams: 1)
        try server.ping(7)
        try exchange()
        try server.goaway(lastStream: 7, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
        try server.respond(to: 7, status: 200, headers: headers)
        try exchange()
        return spoken
    }
}
