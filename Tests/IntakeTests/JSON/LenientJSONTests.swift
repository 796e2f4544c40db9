import CardRules
import Intake
import Testing

@Suite struct LenientJSONTests {
    private func value(_ text: String) throws(JSONFault) -> JSONValue {
        let bytes = Array(text.utf8)
        return try JSONScanner.value(in: bytes.span, dialect: .lenient)
    }

    private func fault(_ text: String) -> JSONFault? {
        do throws(JSONFault) {
            _ = try value(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("// a line\n1 // and another", JSONValue.integer(1)), ("/* a * / ** */ 1 /**/", .integer(1)),
        ("{ // why\r  a: 1, /* b */ }", .object(["a": .integer(1)])), ("[1, 2,]", .array([.integer(1), .integer(2)])),
        ("[]", .array([])), ("{}", .object([])), ("\u{FEFF}\u{B}\u{C}\u{A0}\u{2028}\u{2029}1", .integer(1)),
        (
            "{$_a1: 1, 'b c': 2, \"d\": 3, é: 4}",
            .object(["$_a1": .integer(1), "b c": .integer(2), "d": .integer(3), "é": .integer(4)])
        ),
        ("{null: null, true: true}", .object(["null": .null, "true": .bool(true)])),
        (#"'say "hi", it\'s'"#, .string(#"say "hi", it's"#)), (#""it's""#, .string("it's")),
        (#"'\v\0\x41\q\/\u00e9'"#, .string("\u{B}\0Aq/é")), ("'a\\\nb\\\r\nc\\\u{2028}d'", .string("abcd")),
        (#"'\é🏀\🏀'"#, .string("é🏀🏀")), ("'a\tb'", .string("a\tb")),
    ])
    func `JSON5: comments, bare keys, single quotes, trailing commas and lost ends of lines are read`(
        text: String, expected: JSONValue
    ) throws { #expect(try value(text) == expected) }

    @Test(arguments: [
        ("+1", JSONValue.integer(1)), ("-1", .integer(-1)), (".5", .number(0.5)), ("-.5", .number(-0.5)),
        ("+.5e1", .number(5)), ("5.", .number(5)), ("5.e1", .number(50)), ("-1.25", .number(-1.25)),
        ("0.5", .number(0.5)), ("10.05", .number(10.05)), ("0x1F", .integer(31)), ("-0Xff", .integer(-255)),
        ("0x7fffffffffffffff", .integer(.max)), ("-0x8000000000000000", .integer(.min)), ("0", .integer(0)),
        ("9223372036854775807", .integer(.max)),
    ])
    func `JSON5: numbers with a plus, a bare point, or in hex are read`(text: String, expected: JSONValue) throws {
        #expect(try value(text) == expected)
    }

    @Test(arguments: [
        ("/* open", JSONFault.Reason.unexpectedEnd, 7), ("/ 1", .unexpectedByte(0x2F), 0),
        ("[,]", .unexpectedByte(0x2C), 1),
        ("[1,,]", .unexpectedByte(0x2C), 3), ("{,}", .unexpectedByte(0x2C), 1), ("{1a: 1}", .unexpectedByte(0x31), 1),
        ("{a-b: 1}", .unexpectedByte(0x2D), 2), ("{a: 1, 'a': 2}", .duplicateKey("a"), 7),
        ("Infinity", .numberOutOfRange, 0), ("-Infinity", .numberOutOfRange, 0), ("+NaN", .numberOutOfRange, 0),
        ("0x", .unexpectedEnd, 2), ("0xg", .badNumber, 2), ("0x8000000000000000", .numberOutOfRange, 0),
        (".", .unexpectedEnd, 1), ("+", .unexpectedEnd, 1), ("[.]", .badNumber, 2), ("01", .badNumber, 0),
        ("1e400", .numberOutOfRange, 0),
        ("'a\nb'", .controlCharacter, 2), (#"'\1'"#, .badEscape, 1), (#"'\01'"#, .badEscape, 1),
        (#"'\x4'"#, .badEscape, 1), ("'a", .unexpectedEnd, 2), (#""a'"#, .unexpectedEnd, 3),
        (#"'\ud83c'"#, .loneSurrogate, 1), ("undefined", .unexpectedByte(0x75), 0), ("Nil", .badNumber, 0),
    ])
    func `JSON5: what it does not know either is refused, with its place`(
        text: String, reason: JSONFault.Reason, offset: Int
    ) { #expect(fault(text) == JSONFault(reason, at: offset)) }

    @Test(arguments: [
        "// c\n1", "/**/1", "{a:1}", "{'a':1}", "'a'", "[1,]", "+1", ".5", "5.", "0x1F", "\u{B}1", "\"a\tb\"",
        #""\v""#,
    ])
    func `JSON: nothing of JSON5 is read where nobody asked for it`(text: String) {
        let bytes = Array(text.utf8)
        #expect(throws: JSONFault.self) { try JSONScanner.value(in: bytes.span) }
        #expect(fault(text) == nil)
    }

    @Test func `JSON5: what JSON reads is read the same`() throws {
        let text = #"{"a": [1, -2.5e3, "é\n\u00e9", true, null, {"b": {}}], "c": 0}"#
        let bytes = Array(text.utf8)
        #expect(try value(text) == JSONScanner.value(in: bytes.span))
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `JSON5: no mutation of a text traps`(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let text = Array("{ a: 'x\\x41\\\n', /* c */ $b: [+.5, 0x1F, 1.,], // e\n \"d\": -Infinity }".utf8)
        for _ in 0..<2000 {
            var bytes = text
            for _ in 0..<(1 + next(4)) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                default: bytes.insert(text[next(text.count)], at: next(bytes.count))
                }
            }
            do throws(JSONFault) {
                _ = try JSONScanner.value(in: bytes.span, dialect: .lenient)
            } catch {
                #expect((0...bytes.count).contains(error.offset), "seed \(seed)")
            }
        }
    }
}
