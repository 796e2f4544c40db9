/// What a request asks for (RFC 9112, 3.2), checked and decoded.
struct RequestTarget {
    var path: [String] = []
    var query: [(name: String, value: String)] = []
    /// Host and port, where the target is in absolute form: they stand above the Host field (RFC 9112, 3.2.2).
    var authority: String?

    /// - Parameter range: where it stands in `bytes`: the request line's middle part, free of spaces.
    init(_ bytes: Span<UInt8>, _ range: Range<Int>, method: String) throws(RequestFault) {
        guard let first = range.first.map({ bytes[$0] }) else { throw .malformed("The request has no target.") }
        if first == UInt8(ascii: "*"), range.count == 1, method == "OPTIONS" {
            path = ["*"]
            return
        }
        if first == UInt8(ascii: "/") {
            try read(bytes, range)
            return
        }
        let start = try Self.authorityStart(bytes, range)
        var end = start
        while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        guard end > start, Self.isAuthority(bytes, start..<end) else {
            throw .malformed("The target's host is not valid.")
        }
        authority = bytes.text(in: start..<end)
        try read(bytes, end..<range.upperBound)
    }

    /// The place after `http://` or `https://`.
    private static func authorityStart(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> Int {
        for scheme in ["http://", "https://"] as [StaticString] {
            let end = range.lowerBound + scheme.utf8CodeUnitCount
            if end <= range.upperBound, bytes.isWord(scheme, in: range.lowerBound..<end) { return end }
        }
        throw .malformed("The target is neither a path nor an http address.")
    }

    /// `host`, `host:port`, `[address]:port`. User information is refused: RFC 9110, 4.2.4.
    static func isAuthority(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var place = range.lowerBound
        let end = range.upperBound
        if place < end, bytes[place] == UInt8(ascii: "[") {
            place += 1
            let start = place
            while place < end, bytes[place].hexValue != nil || bytes[place] == UInt8(ascii: ":") || bytes[place] == 0x2e
            {
                place += 1
            }
            guard place > start, place < end, bytes[place] == UInt8(ascii: "]") else { return false }
            place += 1
        } else {
            while place < end, bytes[place] != UInt8(ascii: ":") {
                if bytes[place] == UInt8(ascii: "%") {
                    guard place + 2 < end, bytes[place + 1].hexValue != nil, bytes[place + 2].hexValue != nil else {
                        return false
                    }
                    place += 3
                } else {
                    guard bytes[place].isHostByte else { return false }
                    place += 1
                }
            }
        }
        guard place < end else { return true }
        guard bytes[place] == UInt8(ascii: ":"), end - place <= 6 else { return false }
        place += 1
        while place < end {
            guard bytes[place].isDigit else { return false }
            place += 1
        }
        return true
    }

    private mutating func read(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFault) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"), in: range) ?? range.upperBound
        // An empty path is that of the root (RFC 9110, 4.2.3).
        var start = min(range.lowerBound + 1, mark)
        while true {
            let end = bytes.firstIndex(of: UInt8(ascii: "/"), in: start..<mark) ?? mark
            path.append(try Self.decoded(bytes, start..<end, isQuery: false))
            guard end < mark else { break }
            start = end + 1
        }
        guard mark < range.upperBound else { return }
        start = mark + 1
        while start <= range.upperBound {
            let end = bytes.firstIndex(of: UInt8(ascii: "&"), in: start..<range.upperBound) ?? range.upperBound
            if end > start {
                let sign = bytes.firstIndex(of: UInt8(ascii: "="), in: start..<end) ?? end
                query.append(
                    (
                        try Self.decoded(bytes, start..<sign, isQuery: true),
                        try Self.decoded(bytes, min(sign + 1, end)..<end, isQuery: true)
                    ))
            }
            start = end + 1
        }
    }

    /// Takes the escapes back. Refused: a byte that must be escaped, an escape without its two digits, NUL (it cuts C
    /// strings), and what is no UTF-8 then (two different targets must not become one text).
    private static func decoded(
        _ bytes: Span<UInt8>, _ range: Range<Int>, isQuery: Bool
    ) throws(RequestFault) -> String {
        var plain: [UInt8] = []
        plain.reserveCapacity(range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = bytes[place]
            if byte == UInt8(ascii: "%") {
                guard place + 2 < range.upperBound, let high = bytes[place + 1].hexValue,
                    let low = bytes[place + 2].hexValue
                else { throw .malformed("An escape in the target lacks its two digits.") }
                guard high | low != 0 else { throw .malformed("The target holds a NUL.") }
                plain.append(high << 4 | low)
                place += 3
            } else {
                guard byte.isSegmentByte || isQuery && (byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")) else {
                    throw .malformed("The target holds a byte that must be escaped.")
                }
                plain.append(byte)
                place += 1
            }
        }
        guard let text = String(validating: plain, as: UTF8.self) else {
            throw .malformed("The target is not in UTF-8.")
        }
        return text
    }
}
