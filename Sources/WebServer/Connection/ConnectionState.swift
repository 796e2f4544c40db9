/// What one connection is doing: pure, between the bytes of the peer and the calls of the handler.
///
/// Requests are taken in their order, one at a time: while one is *parked* (awaits its answer), those behind it wait as
/// bytes. The shell moves bytes in (`receive`), carries out what `next` and `sweep` ask for, hands answers back, and
/// moves `output` out (`wrote`).
struct ConnectionState: Sendable {
    /// What the shell must do.
    enum Effect: Sendable {
        /// Ask the handler and hand its verdict to `admit` or `refuse`.
        case judge(WebRequestHead)
        /// Give it to the handler; its answer comes with this number.
        case take(WebRequest, number: UInt64)
        /// Ask the handler for the words and hand them to `refuse`. The connection ends with it.
        case fault(RequestFault)
    }

    private enum Phase: Sendable {
        /// Reading, or handing out a request.
        case reading
        /// A head is judged; a fault gets its words.
        case asking
        case parked(since: Int64)
        case streaming(isChunked: Bool)
        /// The last answer is on its way out; then the peer's end is awaited.
        case ending
        case lingering(until: Int64)
        case over
    }

    let limits: WebLimits
    private var reader: RequestReader
    private var phase = Phase.reading
    /// The request that is read, parked or streamed; `nil` before its head is complete.
    private var current: ParsedHead?
    private(set) var number: UInt64 = 0
    /// When its first byte came.
    private var began: Int64?
    /// When the connection was accepted, or its latest answer given.
    private var quietSince: Int64
    private var isFresh = true
    private var isStopping = false
    private(set) var hasInputEnded = false

    private(set) var output: [UInt8] = []
    /// How much of `output` is written.
    private(set) var written = 0
    private var outputSince: Int64?
    private var queuedBytes = 0

    init(limits: WebLimits, at now: Int64) {
        self.limits = limits
        reader = RequestReader(limits: limits)
        quietSince = now
    }

    var pendingBytes: Int { output.count - written }
    var isOver: Bool { if case .over = phase { true } else { false } }
    var isParked: Bool { if case .parked = phase { true } else { false } }
    func isParked(_ number: UInt64) -> Bool { isParked && number == self.number }
    var isStreaming: Bool { if case .streaming = phase { true } else { false } }
    /// Everything is written and nothing more will be: shut down the sending half, then call `finishedWriting`.
    var wantsFinish: Bool { if case .ending = phase { pendingBytes == 0 } else { false } }
    /// Unread answers hold back further input, and so do bytes enough behind a parked request: the peer's own sending
    /// then stops, by TCP.
    var wantsInput: Bool {
        if hasInputEnded { return false }
        switch phase {
        case .over, .asking: return false
        case .reading: return pendingBytes <= limits.unreadBytes
        case .parked: return reader.bufferedBytes <= limits.parkedInputBytes
        case .streaming, .ending, .lingering: return true
        }
    }

    // MARK: The peer

    mutating func receive(_ bytes: Span<UInt8>, at now: Int64) {
        switch phase {
        case .ending, .lingering, .over: return  // read and dropped
        case .reading, .asking, .parked, .streaming: break
        }
        reader.append(bytes)
        switch phase {
        case .streaming: if reader.bufferedBytes > limits.parkedInputBytes { phase = .over }
        case .reading: if began == nil { began = now }
        case .asking, .parked, .ending, .lingering, .over: break
        }
    }

    /// The peer has ended its half. What it asked for is answered all the same; a stream is over, for its reader leaves
    /// in no other way.
    mutating func receiveEnd() {
        hasInputEnded = true
        switch phase {
        case .streaming, .lingering: phase = .over
        case .reading, .asking, .parked, .ending, .over: break
        }
    }

    mutating func lose() { phase = .over }

    mutating func next(at now: Int64) -> Effect? {
        guard case .reading = phase, pendingBytes <= limits.unreadBytes else { return nil }
        if began == nil, !reader.isBetweenRequests { began = now }
        switch reader.next() {
        case .judge(let parsed):
            current = parsed
            isFresh = false
            phase = .asking
            return .judge(parsed.head)
        case .request(let request):
            number += 1
            phase = .parked(since: now)
            return .take(request, number: number)
        case .fault(let fault):
            phase = .asking
            return .fault(fault)
        case .starved:
            let isBetween = current == nil && reader.isBetweenRequests
            if isBetween { began = nil }
            guard hasInputEnded || isBetween && isStopping else { return nil }
            guard !isBetween else {
                end()
                return nil
            }
            phase = .asking
            return .fault(.malformed("The connection ended within a request."))
        }
    }

    // MARK: The handler

    /// The verdict on the judged head.
    mutating func admit(maximumBytes: Int, at now: Int64) {
        guard case .asking = phase, let current else { return }
        reader.admit(maximumBytes: maximumBytes)
        phase = .reading
        let isWelcome = if case .length(let count) = current.framing { count <= maximumBytes } else { true }
        if current.expectsContinue, current.hasBody, isWelcome { queue(AnswerWriter.continues, at: now) }
    }

    /// Answers what was judged, or a fault. After a fault, and where a body would follow, the connection ends.
    mutating func refuse(_ answer: WebAnswer, isFault: Bool, date: [UInt8], at now: Int64) -> WebServed? {
        switch phase {
        case .asking, .parked: break
        case .reading, .streaming, .ending, .lingering, .over: return nil
        }
        let isLast = isFault || current?.hasBody ?? true
        if isLast { reader.end() } else { reader.refuse() }
        return give(answer, isLast: isLast, date: date, at: now)
    }

    /// - Returns: `nil` when no such request is parked: it was answered already, or given up.
    mutating func answer(_ number: UInt64, _ answer: WebAnswer, date: [UInt8], at now: Int64) -> WebServed? {
        guard isParked(number) else { return nil }
        return give(answer, isLast: false, date: date, at: now)
    }

    /// Begins a body without end.
    mutating func openStream(_ number: UInt64, _ headers: WebHeaders, date: [UInt8], at now: Int64) -> WebServed? {
        guard isParked(number), let current else { return nil }
        let isChunked = !current.isOld
        var head: [UInt8] = []
        AnswerWriter.appendHead(
            status: 200, headers: headers, framing: isChunked ? .chunked : .untilClose,
            closes: current.closes || isStopping || hasInputEnded, date: date, to: &head)
        queue(head, at: now)
        phase = .streaming(isChunked: isChunked)
        let served = served(status: 200, at: now)
        if current.isHEAD {
            settle(closes: current.closes, at: now)
        } else if hasInputEnded {
            phase = .over
        }
        return served
    }

    /// - Returns: whether the stream is open.
    mutating func send(_ bytes: [UInt8], on number: UInt64, at now: Int64) -> Bool {
        guard case .streaming(let isChunked) = phase, number == self.number else { return false }
        guard !bytes.isEmpty else { return true }
        guard isChunked else {
            queue(bytes, at: now)
            return true
        }
        noteOutput(at: now)
        let before = output.count
        AnswerWriter.appendChunk(bytes, to: &output)
        queuedBytes += output.count - before
        return true
    }

    mutating func closeStream(_ number: UInt64, at now: Int64) {
        guard case .streaming(let isChunked) = phase, number == self.number, let current else { return }
        if isChunked { queue(AnswerWriter.lastChunk, at: now) }
        settle(closes: current.closes || !isChunked, at: now)
    }

    // MARK: Writing

    mutating func wrote(_ count: Int) {
        written += count
        guard written >= output.count else { return }
        if output.capacity > 65_536 { output = [] } else { output.removeAll(keepingCapacity: true) }
        written = 0
        outputSince = nil
        queuedBytes = 0
    }

    mutating func finishedWriting(at now: Int64) {
        guard wantsFinish else { return }
        phase = hasInputEnded ? .over : .lingering(until: now + Int64(limits.lingerSeconds) * 1_000_000_000)
    }

    // MARK: Time

    /// Looks for what is due; to be called about once a second.
    mutating func sweep(at now: Int64) -> Effect? {
        if let outputSince, !isStreaming, now >= outputSince + limits.nanoseconds(forBytes: queuedBytes) {
            phase = .over  // it does not read its answers
            return nil
        }
        switch phase {
        case .lingering(let until):
            if now >= until { phase = .over }
            return nil
        case .parked(let since):
            guard now >= since + Int64(limits.parkedSeconds) * 1_000_000_000 else { return nil }
            return .fault(RequestFault(503, "The answer took too long."))
        case .reading:
            if let began {
                guard now >= began + limits.nanoseconds(forBytes: reader.bodyBytes) else { return nil }
            } else if isFresh {
                guard now >= quietSince + limits.nanoseconds(forBytes: 0) else { return nil }
            } else {
                if now >= quietSince + Int64(limits.idleSeconds) * 1_000_000_000 { end() }
                return nil
            }
            phase = .asking
            return .fault(RequestFault(408, "The request took too long to come."))
        case .asking, .streaming, .ending, .over: return nil
        }
    }

    /// No further request is taken; what was begun is finished, but a stream.
    mutating func stop(at now: Int64) {
        isStopping = true
        switch phase {
        case .streaming: closeStream(number, at: now)
        case .reading: if current == nil, reader.isBetweenRequests { end() }
        case .asking, .parked, .ending, .lingering, .over: break
        }
    }

    /// Turned away before any request: one connection too many.
    mutating func turnAway(_ answer: WebAnswer, date: [UInt8], at now: Int64) -> WebServed? {
        guard case .reading = phase else { return nil }
        phase = .asking
        return refuse(answer, isFault: true, date: date, at: now)
    }

    // MARK: Parts

    private mutating func give(_ answer: WebAnswer, isLast: Bool, date: [UInt8], at now: Int64) -> WebServed {
        let status = (200...599).contains(answer.status) ? answer.status : 500
        let isBodiless = status == 204 || status == 304
        let closes = isLast || isStopping || current?.closes ?? true
        noteOutput(at: now)
        let before = output.count
        AnswerWriter.appendHead(
            status: status, headers: answer.headers, framing: isBodiless ? .none : .length(answer.body.count),
            closes: closes, date: date, to: &output)
        if !isBodiless, current?.isHEAD != true { output.append(contentsOf: answer.body) }
        queuedBytes += output.count - before
        let served = served(status: status, at: now)
        settle(closes: closes, at: now)
        return served
    }

    private func served(status: Int, at now: Int64) -> WebServed {
        WebServed(head: current?.head, status: status, seconds: Double(now - (began ?? now)) / 1e9)
    }

    /// The current request is done with.
    private mutating func settle(closes: Bool, at now: Int64) {
        current = nil
        began = nil
        quietSince = now
        if closes || isStopping { end() } else { phase = .reading }
    }

    private mutating func end() {
        reader.end()
        phase = .ending
    }

    private mutating func queue(_ bytes: [UInt8], at now: Int64) {
        noteOutput(at: now)
        output.append(contentsOf: bytes)
        queuedBytes += bytes.count
    }

    private mutating func noteOutput(at now: Int64) {
        if outputSince == nil { outputSince = now }
    }
}
