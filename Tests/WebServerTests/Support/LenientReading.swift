/// Another reading of the same bytes, as careless proxies and servers have it. What we accept, every such reader must
/// read as the same requests with the same ends, or a request could be hidden from one of them.
struct LenientReading {
    struct Request: Hashable {
        var method: String
        var target: String
        var body: [UInt8]
    }

    /// Lines may end with LF alone.
    var takesBareLF = false
    /// Of several lengths, the last one counts.
    var lastLengthWins = false
    /// A length counts above a transfer coding.
    var lengthWins = false

    static let all = [false, true].flatMap { bare in
        [false, true].flatMap { last in
            [false, true].map { LenientReading(takesBareLF: bare, lastLengthWins: last, lengthWins: $0) }
        }
    }

    func requests(in bytes: [UInt8]) -> [Request] {
        var rest = bytes[...]
        var found: [Request] = []
        while let request = next(&rest) { found.append(request) }
        return found
    }

    private func line(_ rest: inout ArraySlice<UInt8>) -> String? {
        var place = rest.startIndex
        while let feed = rest[place...].firstIndex(of: 10) {
            let hasReturn = feed > rest.startIndex && rest[feed - 1] == 13
            if hasReturn || takesBareLF {
                let text = rest[..<(hasReturn ? feed - 1 : feed)]
                rest = rest[(feed + 1)...]
                return String(decoding: text, as: UTF8.self)
            }
            place = feed + 1
        }
        return nil
    }

    private func next(_ rest: inout ArraySlice<UInt8>) -> Request? {
        var first = line(&rest)
        while first == "" { first = line(&rest) }
        guard let parts = first?.split(separator: " ", omittingEmptySubsequences: false), parts.count >= 2 else {
            return nil
        }
        var lengths: [Int] = []
        var isChunked = false
        while true {
            guard let field = line(&rest) else { return nil }
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: ":") else { continue }
            let name = field[..<colon].lowercased().filter { $0 != " " && $0 != "\t" }
            let value = field[field.index(after: colon)...].filter { $0 != " " && $0 != "\t" }
            if name == "content-length", let length = Int(value) { lengths.append(length) }
            if name == "transfer-encoding", value.lowercased().contains("chunked") { isChunked = true }
        }
        var request = Request(method: String(parts[0]), target: String(parts[1]), body: [])
        if isChunked, !(lengthWins && !lengths.isEmpty) {
            guard let body = chunks(&rest) else { return nil }
            request.body = body
        } else if let length = lastLengthWins ? lengths.last : lengths.first {
            guard length >= 0, rest.count >= length else { return nil }
            request.body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return request
    }

    private func chunks(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            guard let text = line(&rest) else { return nil }
            let digits = text.prefix { $0.isHexDigit && $0.isASCII }
            guard let size = Int(digits, radix: 16), rest.count >= size else { return nil }
            if size == 0 { break }
            body += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard line(&rest) != nil else { return nil }
        }
        while true {
            guard let field = line(&rest) else { return nil }
            if field.isEmpty { return body }
        }
    }
}
