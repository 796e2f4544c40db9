internal import CNghttp2

/// The server's side of one HTTP/2 connection, without I/O: bytes go in and requests come out, answers go in and bytes
/// come out. Owns an nghttp2 session, freed with the last reference. Used by one thread at a time. PINGs are answered
/// by itself.
public final class ServerSession {
    /// What is kept of a request's body; what is beyond is counted only.
    public static let bodyBytesAtMost = 65_536
    /// A longer header block resets its stream.
    public static let headerBytesAtMost = 16_384

    private let streams = ServerStreams()
    private let handle: SessionHandle

    /// - Parameters:
    ///   - maxConcurrentStreams: announced with the first bytes to `collect`. Streams beyond it are refused with
    ///     REFUSED_STREAM, also before the client has acknowledged it; beyond one that the client has acknowledged, the
    ///     session ends with GOAWAY PROTOCOL_ERROR (RFC 9113, 5.1.2 allows both).
    ///   - receiveWindowBytes: how much all streams together may have in flight to us.
    public init(maxConcurrentStreams: UInt32, receiveWindowBytes: Int32 = 1 << 20) throws(HTTP2Error) {
        handle = try SessionHandle(isServer: true, userData: Unmanaged.passUnretained(streams).toOpaque()) {
            setServerCallbacks($0)
        }
        try announce(maxConcurrentStreams: maxConcurrentStreams)
        try HTTP2Error.check(
            nghttp2_session_set_local_window_size(handle.raw, 0, 0, receiveWindowBytes), "set the receive window")
    }

    /// Requests that are not answered whole.
    public var openStreams: Int { streams.openCount }
    public var wantsRead: Bool { handle.wantsRead }
    public var wantsWrite: Bool { handle.wantsWrite }
    /// The highest stream that was taken up so far: what an honest GOAWAY names.
    public var lastStream: Int32 { nghttp2_session_get_last_proc_stream_id(handle.raw) }

    /// Sends SETTINGS with a new limit, which holds at once for streams that come from now on. Lowering it spares those
    /// open.
    public func announce(maxConcurrentStreams: UInt32) throws(HTTP2Error) {
        try handle.settings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams)])
    }

    /// Answers a request. An empty body puts END_STREAM on the headers, as APNs does (R1).
    /// - Parameters: `status` 200...599; `headers` without `:status`; `body` is shared, not copied.
    /// - Returns: `false` if the request is gone or answered already; then nothing was done.
    @discardableResult
    public func respond(
        to stream: Int32, status: Int, headers: HeaderBlock = HeaderBlock(), body: [UInt8] = []
    ) throws(HTTP2Error) -> Bool {
        guard let index = streams.slot(handle.raw, stream), !streams.slots[index].hasResponded else { return false }
        streams.slots[index].answer = body
        let digits = [UInt8](String(min(999, max(100, status))).utf8)
        let raw = handle.raw
        _ = try handle.withFields(headers, status: digits) { fields, count in
            guard !body.isEmpty else { return nghttp2_submit_response(raw, stream, fields, count, nil) }
            let data = UnsafeMutableRawPointer(bitPattern: index + 1)
            var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: data), read_callback: readAnswerBody)
            return nghttp2_submit_response(raw, stream, fields, count, &provider)
        }
        streams.slots[index].hasResponded = true
        return true
    }

    /// RST_STREAM. With `.refusedStream` it promises that nothing was done.
    public func reset(_ stream: Int32, _ code: ErrorCode) throws(HTTP2Error) {
        try HTTP2Error.check(nghttp2_submit_rst_stream(handle.raw, 0, stream, code.rawValue), "reset a stream")
    }

    /// GOAWAY. Streams above `lastStream` are dropped, those up to it may still be answered.
    /// - Parameter lastStream: `nil`: all that were taken up. Anything lower promises that the others were not processed.
    ///   `.max`: notice that the server will leave (RFC 9113, 6.8): what crosses it is taken up still, and a second GOAWAY
    ///   says what became of the rest; it carries neither code nor text.
    public func goaway(
        lastStream: Int32? = nil, code: ErrorCode = .noError, debug: [UInt8] = []
    ) throws(HTTP2Error) {
        guard lastStream != .max else {
            // As a GOAWAY like any other, nghttp2 would ignore whatever comes after it without a word.
            return try HTTP2Error.check(nghttp2_submit_shutdown_notice(handle.raw), "give notice")
        }
        streams.hasSentGoaway = true
        // nghttp2 wants a client's number: odd, or 0.
        let wanted = max(0, lastStream ?? self.lastStream)
        try handle.goaway(lastStream: wanted == 0 || wanted % 2 == 1 ? wanted : wanted - 1, code: code, debug: debug)
    }

    public func ping(_ number: UInt64) throws(HTTP2Error) { try handle.ping(number) }

    /// Takes what arrived, in pieces of any size.
    /// - Throws: when the session cannot go on, for instance because the first bytes are not HTTP/2's. Other violations come
    ///   as `.failed` after the next `collect`.
    public func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) { try handle.receive(bytes) }

    /// Appends what is to be sent, until `output` holds at least `limit` bytes (it may go one frame beyond) or nothing
    /// is left.
    public func collect(into output: inout [UInt8], upTo limit: Int = 16_384) throws(HTTP2Error) {
        while output.count < limit, try handle.collectOne(into: &output) > 0 {}
    }

    /// Replaces `events` with what happened since the last call. Hand in the same array to spare the allocation.
    public func takeEvents(into events: inout [ServerEvent]) {
        events.removeAll(keepingCapacity: true)
        swap(&events, &streams.events)
    }
}

// MARK: - Callbacks. User data is the session's ServerStreams, which it keeps alive.

private func setServerCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, data in
        if let frame { owner(data)?.began(session, stream: frame.pointee.hd.stream_id) }
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        session, frame, name, nameLength, value, valueLength, flags, data in
        guard let frame, let streams = owner(data), let index = streams.slot(session, frame.pointee.hd.stream_id) else {
            return 0
        }
        let isKept = streams.received(
            field: UnsafeBufferPointer(start: name, count: nameLength),
            UnsafeBufferPointer(start: value, count: valueLength),
            isLiteral: UInt32(flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0, slot: index)
        return isKept ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue  // resets this stream only
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, data in
        guard let streams = owner(data), let index = streams.slot(session, stream) else { return 0 }
        streams.received(body: UnsafeBufferPointer(start: bytes, count: count), slot: index)
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, data in
        if let frame { owner(data)?.received(session, frame) }
        return 0
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, code, data in
        if let frame, code == NGHTTP2_ERR_REFUSED_STREAM.rawValue, let streams = owner(data) {
            streams.refused(stream: frame.pointee.hd.stream_id)
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, data in
        if let frame { owner(data)?.sent(session, frame) }
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, data in
        owner(data)?.closed(session, stream: stream, code: code)
        return 0
    }
    nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, length, data in
        if let text { owner(data)?.libraryText = libraryText(text, length) }
        return 0
    }
}

private func owner(_ data: UnsafeMutableRawPointer?) -> ServerStreams? {
    data.map { Unmanaged<ServerStreams>.fromOpaque($0).takeUnretainedValue() }
}

private func readAnswerBody(
    _: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ room: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ data: UnsafeMutableRawPointer?
) -> Int {
    guard let streams = owner(data), let index = source?.pointee.ptr else {
        return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    return streams.read(slot: Int(bitPattern: index) - 1, into: buffer, room: room, flags: flags)
}
