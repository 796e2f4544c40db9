import CardRules
import Intake
import Testing

@Suite struct JSONScannerTests {
    private func fault(_ bytes: [UInt8]) -> JSONFault? {
        do throws(JSONFault) {
            _ = try JSONScanner.value(in: bytes.span)
            return nil
        } catch {
            return error
        }
    }

    private func value(_ text: String) throws -> JSONValue {
        let bytes = Array(text.utf8)
        return try JSONScanner.value(in: bytes.span)
    }

    @Test(arguments: [
        ("null", JSONValue.null), (" true ", .bool(true)), ("false", .bool(false)), ("-0", .integer(0)),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)), ("1.5e2", .number(150)),
        ("3.0", .number(3)), ("[]", .array([])), ("[1, [2]]", .array([.integer(1), .array([.integer(2)])])),
        ("{}", .object([])), (#""a\"\\\/\b\f\n\r\t\u00e9\ud83c\udfc0""#, .string("a\"\\/\u{8}\u{C}\n\r\té🏀")),
        ("\"é🏀\"", .string("é🏀")), (#""\u0000""#, .string("\0")),
        (#"{"b":1,"a":{"c":null}}"#, .object(["a": .object(["c": .null]), "b": .integer(1)])),
        (#"{"\u0074":1}"#, .object(["t": .integer(1)])),
    ])
    func `JSON: what is valid is read, escapes in keys too`(text: String, expected: JSONValue) throws {
        #expect(try value(text) == expected)
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, JSONFault.Reason.duplicateKey("a"), 7), (#"{"a":1,"\u0061":2}"#, .duplicateKey("a"), 7),
        (#""\ud83c""#, .loneSurrogate, 1), (#""\udfc0""#, .loneSurrogate, 1), (#""\ud83c\ud83c""#, .loneSurrogate, 1),
        ("1e400", .numberOutOfRange, 0), ("-1e400", .numberOutOfRange, 0), (#"{"x":31e624}"#, .numberOutOfRange, 5),
        ("9223372036854775808", .numberOutOfRange, 0), ("[01]", .badNumber, 1), ("-01", .badNumber, 1),
        ("1.", .unexpectedEnd, 2), ("[1.]", .badNumber, 3), ("[.5]", .unexpectedByte(0x2E), 1),
        ("[+1]", .unexpectedByte(0x2B), 1), ("[1e]", .badNumber, 3), ("-", .unexpectedEnd, 1),
        ("[NaN]", .unexpectedByte(0x4E), 1), ("\u{FEFF}{}", .unexpectedByte(0xEF), 0),
        ("{} x", .unexpectedByte(0x78), 3),
        ("{}{}", .unexpectedByte(0x7B), 2), ("[1,]", .unexpectedByte(0x5D), 3),
        (#"{"a":1,}"#, .unexpectedByte(0x7D), 7),
        ("[1 2]", .unexpectedByte(0x32), 3), (#"{"a" 1}"#, .unexpectedByte(0x31), 5),
        ("{a:1}", .unexpectedByte(0x61), 1),
        ("{'a':1}", .unexpectedByte(0x27), 1), ("[1", .unexpectedEnd, 2), (#"{"a"#, .unexpectedEnd, 3),
        ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("tru", .unexpectedEnd, 3),
        ("trux", .unexpectedByte(0x78), 3),
        (#""\x""#, .badEscape, 1), (#""\u12g4""#, .badEscape, 1), ("\"a\nb\"", .controlCharacter, 2),
        ("\"a\0b\"", .controlCharacter, 2), ("// no\n1", .unexpectedByte(0x2F), 0),
    ])
    func `JSON: what decoders disagree on is refused, with its place`(
        text: String, reason: JSONFault.Reason, offset: Int
    ) { #expect(fault(Array(text.utf8)) == JSONFault(reason, at: offset)) }

    @Test(
        arguments: [
            [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xC3], [0xFF],
        ] as [[UInt8]])
    func `JSON: overlong, surrogate and broken UTF-8 is refused`(middle: [UInt8]) {
        #expect(fault([0x22, 0x61] + middle + [0x22]) == JSONFault(.invalidUTF8, at: 2))
        #expect(fault([0x22, 0x5C, 0x6E] + middle + [0x22])?.reason == .invalidUTF8)
    }

    @Test func `JSON: UTF-16 is refused`() {
        #expect(fault([0x7B, 0, 0x7D, 0]) != nil)
        #expect(fault([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) != nil)
    }

    @Test(arguments: [32, 33, 40, 1000, 400_000])
    func `JSON: more than 32 levels are refused, and no depth exhausts the stack`(depth: Int) {
        let arrays =
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        #expect(fault(arrays) == (depth <= 32 ? nil : JSONFault(.tooDeep, at: 32)))
        let objects = Array(String(repeating: #"{"a":"#, count: depth).utf8)
        #expect(fault(objects)?.reason == (depth <= 32 ? .unexpectedEnd : .tooDeep))
    }

    @Test func `JSON: depth counts nesting, not how many arrays there were`() throws {
        let text = "[" + String(repeating: "[[]],", count: 100) + "[]]"
        #expect(throws: Never.self) { try value(text) }
    }

    @Test func `JSON: many members of one object are told apart`() {
        let members = (0..<500).map { "\"k\($0)\":\($0)" }
        #expect(fault(Array(("{" + members.joined(separator: ",") + "}").utf8)) == nil)
        let twice = "{" + members.joined(separator: ",") + ",\"k499\":1}"
        #expect(fault(Array(twice.utf8))?.reason == .duplicateKey("k499"))
    }

    @Test func `JSON: a fault has line and column, counted in characters`() throws {
        let text = Array("{\n  \"é🏀\": x}".utf8)
        let found = try #require(self.fault(text))
        let place = found.place(in: text.span)
        #expect(place.line == 2 && place.column == 9)
    }

    /// Whatever the bytes, the scanner answers; what it accepts it accepts again when written anew.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `JSON: no mutation of a line traps`(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let line = Array(
            #"{"t":1385317320.5,"type":"score","game":"n-1","home":14,"detail":{"a":["\u00e9",-1e3]}}"#.utf8)
        for _ in 0..<2000 {
            var bytes = line
            for _ in 0..<(1 + next(4)) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                default: bytes.insert(line[next(line.count)], at: next(bytes.count))
                }
            }
            if let fault = fault(bytes) { #expect((0...bytes.count).contains(fault.offset), "seed \(seed)") }
            _ = try? SlateLineParser.parse(bytes.span)
        }
    }
}
