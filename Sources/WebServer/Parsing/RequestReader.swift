/// Cuts the bytes of one connection into requests. Pure: bytes go in, heads, requests and faults come out, the same
/// whichever pieces the bytes come in.
///
/// Order of use: `append`, then `next` until it is starved; after a head, `admit` or `refuse` before the next `next`.
struct RequestReader: Sendable {
    enum Step: Sendable {
        /// More bytes are needed (or the caller's verdict on a head).
        case starved
        /// A head is complete: admit its body or refuse it.
        case judge(ParsedHead)
        case request(WebRequest)
        /// The last that comes.
        case fault(RequestFault)
    }

    private enum Phase: Sendable {
        case head
        case judging(ParsedHead)
        case fixed(WebRequestHead, remaining: Int)
        case chunked(WebRequestHead, ChunkedBody, maximumBytes: Int)
        case faulty(RequestFault)
        case ended
    }

    private let limits: WebLimits
    private var phase = Phase.head
    private var buffer: [UInt8] = []
    /// Where the unread bytes begin.
    private var start = 0
    private var body: [UInt8] = []
    private var scan = HeadScan()

    init(limits: WebLimits) { self.limits = limits }

    var bufferedBytes: Int { buffer.count - start }

    /// No byte of a request is here.
    var isBetweenRequests: Bool { if case .head = phase { bufferedBytes == 0 } else { false } }

    /// What is known of the body's size while it is read: announced, or come so far. 0 while the head is read.
    var bodyBytes: Int {
        switch phase {
        case .fixed(_, let remaining): body.count + remaining
        case .chunked: body.count
        case .head, .judging, .faulty, .ended: 0
        }
    }

    mutating func append(_ bytes: Span<UInt8>) {
        if case .ended = phase { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 4096, start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
    }

    mutating func next() -> Step {
        do throws(RequestFault) {
            switch phase {
            case .head: return try readHead()
            case .judging, .ended: return .starved
            case .fixed(let head, let remaining): return readFixed(head, remaining)
            case .chunked(let head, var chunks, let maximumBytes):
                phase = .head  // so that the chunks have one owner
                let bytes = buffer
                let isComplete = try chunks.take(
                    bytes.span, &start, into: &body, maximumBytes: maximumBytes, limits: limits)
                if isComplete { return finish(head) }
                phase = .chunked(head, chunks, maximumBytes: maximumBytes)
                return .starved
            case .faulty(let fault): throw fault
            }
        } catch {
            end()
            return .fault(error)
        }
    }

    /// The body of the head that was handed out may come. A longer one is a 413, before it is read.
    mutating func admit(maximumBytes: Int) {
        guard case .judging(let parsed) = phase else { return }
        body = []
        switch parsed.framing {
        case .length(let count) where count > maximumBytes: phase = .faulty(.tooLarge)
        case .length(let count):
            body.reserveCapacity(min(count, 65_536))
            phase = .fixed(parsed.head, remaining: count)
        case .chunked: phase = .chunked(parsed.head, ChunkedBody(), maximumBytes: maximumBytes)
        }
    }

    /// The head that was handed out is answered already. Without a body the next request may follow; else nothing does.
    mutating func refuse() {
        guard case .judging(let parsed) = phase else { return }
        if parsed.hasBody { end() } else { phase = .head }
    }

    /// Nothing more is read.
    mutating func end() {
        phase = .ended
        buffer = []
        body = []
        start = 0
    }

    private mutating func readHead() throws(RequestFault) -> Step {
        if !scan.hasSkipped, bufferedBytes >= 2, buffer[start] == .carriageReturn, buffer[start + 1] == .lineFeed {
            // One empty line before a request is passed over (RFC 9112, 2.2).
            scan = HeadScan(hasSkipped: true)
            start += 2
        }
        let held = buffer
        let bytes = held.span.extracting(start..<held.count)
        guard let length = try scan.advance(over: bytes, limits: limits) else { return .starved }
        let parsed = try ParsedHead(bytes.extracting(0..<length - 2), limits: limits)
        scan = HeadScan()
        start += length
        phase = .judging(parsed)
        return .judge(parsed)
    }

    private mutating func readFixed(_ head: WebRequestHead, _ remaining: Int) -> Step {
        let count = min(remaining, bufferedBytes)
        if count > 0 {
            body.append(contentsOf: buffer[start..<start + count])
            start += count
        }
        guard count == remaining else {
            phase = .fixed(head, remaining: remaining - count)
            return .starved
        }
        return finish(head)
    }

    private mutating func finish(_ head: WebRequestHead) -> Step {
        phase = .head
        defer { body = [] }
        if start == buffer.count, buffer.capacity > 65_536 {
            buffer = []  // an idle connection keeps little
            start = 0
        }
        return .request(WebRequest(head: head, body: body))
    }
}

/// Looks for the end of a head, each byte once.
private struct HeadScan: Sendable {
    let hasSkipped: Bool
    private var scanned = 0
    /// Behind the first CRLF.
    private var firstLine: Int?
    /// Behind the latest CRLF.
    private var latestLine = -1

    init(hasSkipped: Bool = false) { self.hasSkipped = hasSkipped }

    /// - Returns: the length of the head with its empty line, when that is there.
    mutating func advance(over bytes: Span<UInt8>, limits: WebLimits) throws(RequestFault) -> Int? {
        var end: Int?
        let limit = min(bytes.count, limits.headBytes)
        while scanned < limit, end == nil {
            if bytes[scanned] == .lineFeed, scanned > 0, bytes[scanned - 1] == .carriageReturn {
                if latestLine == scanned - 1 { end = scanned + 1 }
                latestLine = scanned + 1
                firstLine = firstLine ?? latestLine
            }
            scanned += 1
        }
        guard firstLine ?? min(bytes.count, limits.headBytes) <= limits.lineBytes else {
            throw RequestFault(414, "The target is too long.")
        }
        if end == nil, bytes.count >= limits.headBytes { throw RequestFault(431, "The head is too long.") }
        return end
    }
}
