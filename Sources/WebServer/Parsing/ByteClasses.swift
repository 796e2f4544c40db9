/// The classes of bytes that HTTP and URIs are made of.
extension UInt8 {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0a
    static let carriageReturn: UInt8 = 0x0d
    static let space: UInt8 = 0x20

    var isDigit: Bool { (0x30...0x39).contains(self) }

    var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }

    /// `tchar` of RFC 9110, 5.6.2: what methods and field names are made of.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: isDigit || isLetter
        }
    }

    /// What a field's value may hold (RFC 9110, 5.5): printable, space, tab, and bytes above ASCII. No other control.
    var isValueByte: Bool { self >= 0x20 && self != 0x7f || self == .tab }

    /// `unreserved`, `sub-delims`, `:` and `@` of RFC 3986, 3.3: a path segment but for its escapes.
    var isSegmentByte: Bool {
        switch self {
        case UInt8(ascii: "@"), UInt8(ascii: ":"): true
        default: isHostByte
        }
    }

    /// `unreserved` and `sub-delims`: a registered name but for its escapes.
    var isHostByte: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: isDigit || isLetter
        }
    }

    /// 0...15; `nil` for what is no hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// ASCII letters alone.
    var lowercased: UInt8 { (0x41...0x5a).contains(self) ? self + 0x20 : self }
}

extension Span<UInt8> {
    /// Compares without regard to the case of ASCII letters.
    /// - Parameter word: in lower case.
    func isWord(_ word: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { letters in
            for place in 0..<letters.count where self[range.lowerBound + place].lowercased != letters[place] {
                return false
            }
            return true
        }
    }

    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var place = range.lowerBound
        while place < range.upperBound {
            if self[place] == byte { return place }
            place += 1
        }
        return nil
    }

    /// Bytes that are no UTF-8 become U+FFFD.
    func text(in range: Range<Int>) -> String {
        extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
