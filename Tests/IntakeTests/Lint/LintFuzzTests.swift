import Foundation
import Intake
import Testing

/// SplitMix64.
private struct Bits: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}

@Suite struct LintFuzzTests {
    private static let pieces =
        [
            "{", "}", "[", "]", "\"", ",", ":", "null", "true", "-", "1e", "\\u", "\\ud800", "\u{0}", "é", "🏀",
            "99999999999999999999",
            "\"aps\":", "\"event\":\"start\"", "\"alert\":{}", "\"timestamp\":1e308", "\"loc-args\":[[[]]]", "\r\n",
            "\u{FEFF}",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]

    private static let seedsOfText = [
        payload("start"), payload("update"), payload("end"),
        #"{"headers":{"apns-topic":"a","apns-priority":"5"},"payload":\#(payload("start"))}"#,
    ].map { Array($0.utf8) }

    /// The replay: LANEKEEPER_SEED.
    private static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["LANEKEEPER_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(0..<32)

    @Test(arguments: seeds)
    func `payloads however mutated are judged without a crash, in order, the same each time`(seed: UInt64) {
        var bits = Bits(state: seed)
        for step in 0..<250 {
            var text = Self.seedsOfText[Int.random(in: 0..<Self.seedsOfText.count, using: &bits)]
            for _ in 0..<Int.random(in: 1...8, using: &bits) {
                let place = Int.random(in: 0...text.count, using: &bits)
                switch Int.random(in: 0..<5, using: &bits) {
                case 0:
                    text.insert(contentsOf: Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &bits)], at: place)
                case 1: text.removeSubrange(place..<min(text.count, place + Int.random(in: 0...12, using: &bits)))
                case 2: if place < text.count { text[place] = UInt8.random(in: 0...255, using: &bits) }
                case 3: text.removeSubrange(place...)
                default:
                    let end = min(text.count, place + Int.random(in: 0...40, using: &bits))
                    text.insert(contentsOf: Array(text[place..<end]), at: place)
                }
            }
            let isSpoilerFree = Bool.random(using: &bits)
            let findings = lintPayload(text, isSpoilerFree: isSpoilerFree)
            #expect(findings == lintPayload(text, isSpoilerFree: isSpoilerFree), "seed \(seed), step \(step)")
            #expect(findings.count <= 100, "seed \(seed), step \(step)")
            for (one, next) in zip(findings, findings.dropFirst()) {
                #expect((one.line, one.column) <= (next.line, next.column), "seed \(seed), step \(step)")
            }
            // What no decoder reads is never right.
            if (try? JSONSerialization.jsonObject(with: Data(text))) == nil {
                #expect(!findings.isEmpty, "seed \(seed), step \(step): \(String(decoding: text, as: UTF8.self))")
            }
        }
    }
}
