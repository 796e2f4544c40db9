/// The head of a request with what its fields say about the message itself.
struct ParsedHead: Sendable {
    enum Framing: Hashable, Sendable {
        /// Exactly so many bytes; without Content-Length and Transfer-Encoding a request has none (RFC 9112, 6.3).
        case length(Int)
        case chunked
    }

    let head: WebRequestHead
    let framing: Framing
    /// HTTP/1.0: neither chunks nor further requests.
    let isOld: Bool
    /// The peer wants the connection closed after the answer.
    let closes: Bool
    let expectsContinue: Bool

    var isHEAD: Bool { head.method == "HEAD" }
    var hasBody: Bool { framing != .length(0) }

    /// - Parameter bytes: the request line and the field lines, each with its line end; without the empty line.
    init(_ bytes: Span<UInt8>, limits: WebLimits) throws(RequestFault) {
        var place = 0
        let line = try RequestLine(bytes, &place, limits: limits)
        var fields = FieldLines()
        while place < bytes.count { try fields.read(bytes, &place, limits: limits) }

        isOld = line.minor == 0
        closes = isOld || fields.saysClose
        framing = try fields.framing(isOld: isOld)
        let host = try fields.checkedHost(isOld: isOld)
        if let host, let authority = line.target.authority { fields.fields[host].value = authority }
        if line.method == "CONNECT" { throw RequestFault(501, "There is no tunnel here.") }
        if fields.hasOtherExpectation, !isOld { throw RequestFault(417, "Only 100-continue can be expected.") }
        expectsContinue = fields.expectsContinue && !isOld
        let length: Int? = if case .length(let count) = framing { count } else { nil }
        head = WebRequestHead(
            method: line.method, path: line.target.path, query: line.target.query, headers: WebHeaders(fields.fields),
            bodyLength: length)
    }
}

/// `method SP target SP version CRLF`, with one space each (RFC 9112, 3).
private struct RequestLine {
    let method: String
    let target: RequestTarget
    let minor: UInt8

    init(_ bytes: Span<UInt8>, _ place: inout Int, limits: WebLimits) throws(RequestFault) {
        let start = place
        while place < bytes.count, bytes[place].isTokenByte { place += 1 }
        guard place > start, place < bytes.count, bytes[place] == .space else {
            throw .malformed("The request line does not begin with a method and a space.")
        }
        guard place - start <= 32 else { throw RequestFault(501, "No method has so long a name.") }
        method = bytes.text(in: start..<place)
        place += 1
        let targetStart = place
        while place < bytes.count, bytes[place] > .space, bytes[place] < 0x7f { place += 1 }
        let targetRange = targetStart..<place
        guard place + 10 < bytes.count, bytes[place] == .space else {
            throw .malformed("The target does not end with a space and a version.")
        }
        place += 1
        guard bytes[place] == 0x48, bytes[place + 1] == 0x54, bytes[place + 2] == 0x54, bytes[place + 3] == 0x50,
            bytes[place + 4] == UInt8(ascii: "/"), bytes[place + 5].isDigit, bytes[place + 6] == UInt8(ascii: "."),
            bytes[place + 7].isDigit, bytes[place + 8] == .carriageReturn, bytes[place + 9] == .lineFeed
        else { throw .malformed("The request line does not end with a version.") }
        guard bytes[place + 5] == UInt8(ascii: "1") else { throw RequestFault(505, "Only HTTP/1.1 is spoken here.") }
        minor = bytes[place + 7] - UInt8(ascii: "0")
        place += 10
        guard targetRange.count <= limits.targetBytes else { throw RequestFault(414, "The target is too long.") }
        target = try RequestTarget(bytes, targetRange, method: method)
    }
}

/// The field lines, with those noted that speak of the message.
private struct FieldLines {
    var fields: [(name: String, value: String)] = []
    var saysClose = false
    var expectsContinue = false
    var hasOtherExpectation = false
    private var hosts: [Int] = []
    private var isHostValid = true
    private var lengths = 0
    private var length: Int?
    private var codings = 0
    private var isChunked = false

    init() { fields.reserveCapacity(12) }

    mutating func read(_ bytes: Span<UInt8>, _ place: inout Int, limits: WebLimits) throws(RequestFault) {
        let line = try FieldLine(bytes, &place)
        guard fields.count < limits.fields else { throw RequestFault(431, "The request has too many fields.") }
        let (name, value) = (line.name, line.value)
        switch name.count {
        case 4 where bytes.isWord("host", in: name):
            hosts.append(fields.count)
            isHostValid = isHostValid && RequestTarget.isAuthority(bytes, value)
        case 6 where bytes.isWord("expect", in: name):
            if bytes.isWord("100-continue", in: value) { expectsContinue = true } else { hasOtherExpectation = true }
        case 10 where bytes.isWord("connection", in: name): saysClose = saysClose || Self.lists("close", bytes, value)
        case 14 where bytes.isWord("content-length", in: name):
            lengths += 1
            length = Self.number(bytes, value)
        case 17 where bytes.isWord("transfer-encoding", in: name):
            codings += 1
            isChunked = bytes.isWord("chunked", in: value)
        default: break
        }
        fields.append((bytes.text(in: name), bytes.text(in: value)))
    }

    /// RFC 9112, 6.1 and 6.3, without any of the tolerance they allow: where two readers could differ about the end of
    /// a body, a second request can be hidden in it.
    func framing(isOld: Bool) throws(RequestFault) -> ParsedHead.Framing {
        guard codings == 0 || lengths == 0 else { throw .malformed("The body has both a length and a coding.") }
        if codings > 0 {
            guard !isOld else { throw .malformed("HTTP/1.0 has no transfer codings.") }
            guard codings == 1, isChunked else { throw RequestFault(501, "The only transfer coding here is chunked.") }
            return .chunked
        }
        guard lengths > 0 else { return .length(0) }
        guard lengths == 1, let length else { throw .malformed("Content-Length is not one number.") }
        return .length(length)
    }

    /// RFC 9112, 3.2.
    /// - Returns: its place among the fields; `nil` without one.
    func checkedHost(isOld: Bool) throws(RequestFault) -> Int? {
        guard hosts.count == 1 || isOld && hosts.isEmpty else {
            throw .malformed("The request needs exactly one Host.")
        }
        guard isHostValid else { throw .malformed("Host is not valid.") }
        return hosts.first
    }

    /// Digits alone; `nil` also for what does not fit.
    private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 18 else { return nil }
        var number = 0
        for place in range {
            guard bytes[place].isDigit else { return nil }
            number = number * 10 + Int(bytes[place] - UInt8(ascii: "0"))
        }
        return number
    }

    private static func lists(_ word: StaticString, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = bytes.firstIndex(of: UInt8(ascii: ","), in: start..<range.upperBound) ?? range.upperBound
            if bytes.isWord(word, in: trimmed(bytes, start..<end)) { return true }
            start = end + 1
        }
        return false
    }
}

/// `name ":" OWS value OWS CRLF` (RFC 9112, 5). No space before the colon, no folding, no lone CR or LF.
struct FieldLine {
    let name: Range<Int>
    let value: Range<Int>

    /// - Parameter place: where the line begins; afterwards where the next one does.
    init(_ bytes: Span<UInt8>, _ place: inout Int) throws(RequestFault) {
        let start = place
        while place < bytes.count, bytes[place].isTokenByte { place += 1 }
        guard place > start, place < bytes.count, bytes[place] == UInt8(ascii: ":") else {
            throw .malformed("A field line does not begin with a name and a colon.")
        }
        name = start..<place
        place += 1
        let valueStart = place
        while place < bytes.count, bytes[place].isValueByte { place += 1 }
        guard place + 1 < bytes.count, bytes[place] == .carriageReturn, bytes[place + 1] == .lineFeed else {
            throw .malformed("A field holds a control character.")
        }
        value = trimmed(bytes, valueStart..<place)
        place += 2
    }
}

/// Without the spaces and tabs around it.
private func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start] == .space || bytes[start] == .tab { start += 1 }
    while end > start, bytes[end - 1] == .space || bytes[end - 1] == .tab { end -= 1 }
    return start..<end
}
