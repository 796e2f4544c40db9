extension JSONScanner {
    /// The rest of a string that has escapes; the position is at the first of them.
    mutating func escapedString(
        _ bytes: Span<UInt8>, from start: Int, _ quote: UInt8
    ) throws(JSONFault) -> String {
        var text: [UInt8] = []
        for index in start..<position { text.append(bytes[index]) }
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case quote:
                advance()
                do {
                    return String(copying: try UTF8Span(validating: text.span))
                } catch {
                    throw JSONFault(.invalidUTF8, at: start)
                }
            case UInt8(ascii: "\\"):
                if let scalar = try escape(bytes) { text.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
            default:
                guard mayStandInString(byte) else { throw JSONFault(.controlCharacter, at: position) }
                text.append(byte)
                advance()
            }
        }
        throw JSONFault(.unexpectedEnd, at: position)
    }

    /// - Returns: `nil` for one that stands for nothing: the end of a line, leniently.
    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONFault) -> Unicode.Scalar? {
        let start = position
        advance()
        guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
        let byte = bytes[position]
        advance()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            guard isLenient else { throw JSONFault(.badEscape, at: start) }
            return try lenientEscape(byte, bytes, escape: start)
        }
        let unit = try hexUnit(bytes, escape: start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONFault(.loneSurrogate, at: start) }
        advance()
        advance()
        let low = try hexUnit(bytes, escape: start)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        else { throw JSONFault(.loneSurrogate, at: start) }
        return scalar
    }

    mutating func hexUnit(_ bytes: Span<UInt8>, escape start: Int, digits: Int = 4) throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<digits {
            guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
            guard let digit = hexDigitValue(bytes[position]) else { throw JSONFault(.badEscape, at: start) }
            unit = unit << 4 | UInt32(digit)
            advance()
        }
        return unit
    }

    /// 0...15; `nil` for what is no hex digit.
    func hexDigitValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
