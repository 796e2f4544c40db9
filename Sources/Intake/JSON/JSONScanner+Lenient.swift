import CardRules

/// What JSON5 has beyond JSON (spec.json5.org), read only by a lenient scanner.
extension JSONScanner {
    /// White space that JSON does not know, and comments.
    ///
    /// - Returns: whether there was any.
    mutating func skipLenientSpace(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        switch bytes[position] {
        case 0x0B, 0x0C: advance()
        case 0xC2 where isAt([0xC2, 0xA0], bytes): advance(2)  // no-break space
        case 0xE2 where isAt([0xE2, 0x80, 0xA8], bytes) || isAt([0xE2, 0x80, 0xA9], bytes): advance(3)
        case 0xEF where isAt([0xEF, 0xBB, 0xBF], bytes): advance(3)  // a byte order mark
        case UInt8(ascii: "/") where isAt([UInt8(ascii: "/"), UInt8(ascii: "/")], bytes):
            while position < bytes.count, bytes[position] != 0x0A, bytes[position] != 0x0D { advance() }
        case UInt8(ascii: "/") where isAt([UInt8(ascii: "/"), UInt8(ascii: "*")], bytes):
            advance(2)
            while !isAt([UInt8(ascii: "*"), UInt8(ascii: "/")], bytes) {
                guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
                advance()
            }
            advance(2)
        default: return false
        }
        return true
    }

    /// A key in quotes of either kind, or as a bare name.
    mutating func lenientKey(_ bytes: Span<UInt8>) throws(JSONFault) -> String {
        let first = try peek(bytes)
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return try string(bytes) }
        let start = position
        while position < bytes.count, JSONScanner.mayStandInName(bytes[position], isFirst: position == start) {
            advance()
        }
        guard position > start else { throw JSONFault(.unexpectedByte(first), at: start) }
        return try text(bytes, start..<position)
    }

    static func beginsLenientNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "I"), UInt8(ascii: "N"): true
        default: false
        }
    }

    /// `0x1F`, and the names of what no setting can be; the sign has been read. `nil`: a decimal number follows.
    mutating func lenientNumber(
        _ bytes: Span<UInt8>, from start: Int, isNegative: Bool
    ) throws(JSONFault) -> JSONValue? {
        for name in ["Infinity", "NaN"] where isAt(Array(name.utf8), bytes) {
            throw JSONFault(.numberOutOfRange, at: start)
        }
        let isHex =
            isAt([UInt8(ascii: "0"), UInt8(ascii: "x")], bytes) || isAt([UInt8(ascii: "0"), UInt8(ascii: "X")], bytes)
        guard isHex else { return nil }
        advance(2)
        guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
        guard hexDigitValue(bytes[position]) != nil else { throw JSONFault(.badNumber, at: position) }
        var value: Int64 = 0
        while position < bytes.count, let digit = hexDigitValue(bytes[position]) {
            let (product, first) = value.multipliedReportingOverflow(by: 16)
            let (sum, second) =
                isNegative
                ? product.subtractingReportingOverflow(Int64(digit)) : product.addingReportingOverflow(Int64(digit))
            guard !first, !second else { throw JSONFault(.numberOutOfRange, at: start) }
            value = sum
            advance()
        }
        return .integer(value)
    }

    /// The escapes of JSON5 beyond those of JSON; the backslash and `byte` have been read.
    ///
    /// - Returns: `nil` for the end of a line, which goes on as if it were not there, and where the character stands for
    ///   itself and is still to be read.
    mutating func lenientEscape(
        _ byte: UInt8, _ bytes: Span<UInt8>, escape start: Int
    ) throws(JSONFault) -> Unicode.Scalar? {
        switch byte {
        case UInt8(ascii: "'"): return "'"
        case UInt8(ascii: "v"): return "\u{B}"
        case UInt8(ascii: "x"): return Unicode.Scalar(try hexUnit(bytes, escape: start, digits: 2))
        case UInt8(ascii: "0"):
            if position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
                throw JSONFault(.badEscape, at: start)
            }
            return "\0"
        case UInt8(ascii: "1")...UInt8(ascii: "9"): throw JSONFault(.badEscape, at: start)
        case 0x0A: return nil
        case 0x0D:
            if position < bytes.count, bytes[position] == 0x0A { advance() }
            return nil
        case 0x80...:
            advance(-1)
            if isAt([0xE2, 0x80, 0xA8], bytes) || isAt([0xE2, 0x80, 0xA9], bytes) { advance(3) }
            return nil
        default: return Unicode.Scalar(byte)
        }
    }

    private func isAt(_ expected: [UInt8], _ bytes: Span<UInt8>) -> Bool {
        guard position + expected.count <= bytes.count else { return false }
        for index in expected.indices where bytes[position + index] != expected[index] { return false }
        return true
    }

    private static func mayStandInName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !isFirst
        default: false
        }
    }
}
