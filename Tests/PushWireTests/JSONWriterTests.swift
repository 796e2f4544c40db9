import CardRules
import Foundation
import PushWire
import Testing

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\u{8}\t\n\u{c}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1f}", #""\u0000\u001f""#),
        ("é🏀", "\"é🏀\""), ("", "\"\""), ("\u{7f}", "\"\u{7f}\""),
    ])
    func `RFC 8259, 7: a string escapes what it must and nothing else`(text: String, json: String) {
        #expect(written { $0.string(text) } == json)
    }

    @Test(arguments: [
        (Int64.max, "9223372036854775807"), (.min, "-9223372036854775808"), (0, "0"), (-7, "-7"),
        (1_795_039_200, "1795039200"),
    ])
    func `an integer is its digits`(value: Int64, json: String) {
        #expect(written { $0.integer(value) } == json)
    }

    @Test(arguments: [
        (0.1, "0.1"), (3.0, "3"), (-0.0, "0"), (87.5, "87.5"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
        (9_007_199_254_740_992, "9007199254740992.0"), (.infinity, "null"), (.nan, "null"),
    ])
    func `a number is the shortest text that reads back the same, whole ones without a fraction`(
        value: Double, json: String
    ) {
        #expect(written { $0.number(value) } == json)
    }

    @Test(arguments: seeds)
    func `P9: a random value reads back equal with the default decoder`(seed: UInt64) throws {
        var random = Seeded(seed)
        for step in 0..<50 {
            guard let value = random.json().canonical else { continue }
            let text = written { $0.value(value) }
            let read = try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8))
            #expect(read == [value], "step \(step); replay: LANEKEEPER_SEED=\(seed) swift test; \(text)")
        }
    }

    @Test func `ref L5: the canonical form has no null members, whole numbers as integers, members in order`() {
        let value = JSONValue.object([
            .init(key: "b", value: .number(3)), .init(key: "a", value: .null),
            .init(key: "aa", value: .array([.null, .number(.nan)])),
        ])
        #expect(written { $0.value(value.canonical ?? .null) } == #"{"aa":[null,null],"b":3}"#)
        #expect(JSONValue.null.canonical == nil)
    }
}
