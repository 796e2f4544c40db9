internal import CNghttp2

/// The client's side of one HTTP/2 connection, without I/O: bytes go in and events come out, requests go in and bytes
/// come out. Owns an nghttp2 session, freed with the last reference. Used by one thread at a time.
///
/// A round of its owner's loop: `receive` all that arrived, `takeEvents`, `submit` while `canSubmit`, then `collect`
/// and write until nothing comes. When the connection is lost, `abandon` settles what is open.
public final class ClientSession {
    /// What is kept of an answer's body: APNs answers with a few dozen bytes.
    public static let bodyBytesAtMost = 65_536
    /// A longer header block resets its stream.
    public static let headerBytesAtMost = 16_384

    private let streams = ClientStreams()
    private let handle: SessionHandle
    /// Bytes that `collect` has handed out since the beginning.
    public private(set) var producedBytes: UInt64 = 0

    /// The preface and our SETTINGS (no server push) are the first bytes to `collect`.
    public init() throws(HTTP2Error) {
        handle = try SessionHandle(isServer: false, userData: Unmanaged.passUnretained(streams).toOpaque()) {
            setClientCallbacks($0)
        }
        try handle.settings([(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
    }

    /// The peer's limit on open streams in its newest SETTINGS; `nil` until the first has come. APNs is known to begin
    /// with 1 and to raise it once a provider token was accepted (ref T14).
    public var remoteMaxStreams: Int? { streams.remoteMaxStreams }
    /// Pieces of memory that nghttp2 holds, for tests.
    var heldPieces: Int { handle.heldPieces }
    /// Requests that are not over.
    public var openStreams: Int { streams.openCount }
    /// True when `submit` would be accepted now. False before the first SETTINGS: nghttp2 would let 100 requests out,
    /// and a peer that allows one refuses 99 of them.
    public var canSubmit: Bool {
        guard let limit = streams.remoteMaxStreams, streams.openCount < limit else { return false }
        return nghttp2_session_check_request_allowed(handle.raw) != 0
    }
    /// Whether `Response.headers` are wanted; without them only their status is kept. From the next header block on.
    public var keepsHeaders: Bool {
        get { streams.keepsHeaders }
        set { streams.keepsHeaders = newValue }
    }
    /// False when the session has nothing more to hear: with `wantsWrite` false too it is over, close the connection.
    public var wantsRead: Bool { handle.wantsRead }
    public var wantsWrite: Bool { handle.wantsWrite }

    /// Opens a request. Its end comes as one `.closed` event, whatever happens.
    /// - Parameters:
    ///   - headers: pseudo-headers first; copied. - body: shared, not copied; empty: the headers end the request.
    ///   - tag: the caller's own number for it.
    ///   - shared: fields that come after those of `headers` that stand in front, up to its last pseudo-header; they may be
    ///     pseudo-headers, too. Whoever sends the same ones again and again makes them once.
    /// - Returns: the stream's number.
    /// - Throws: `.noStreamFree` if `canSubmit` is false; then, and on any other error, no event follows.
    @discardableResult
    public func submit(
        _ headers: HeaderBlock, with shared: HeaderBlock = HeaderBlock(), body: [UInt8], tag: UInt64
    ) throws(HTTP2Error) -> Int32 {
        guard canSubmit else { throw .noStreamFree }
        let place = streams.claim(tag: tag, body: body)
        do throws(HTTP2Error) {
            let raw = handle.raw
            let stream = try handle.withFields(headers, shared: shared) { fields, count in
                let data = UnsafeMutableRawPointer(place)
                guard !body.isEmpty else { return nghttp2_submit_request(raw, nil, fields, count, nil, data) }
                var provider = nghttp2_data_provider(
                    source: nghttp2_data_source(ptr: data), read_callback: readRequestBody)
                return nghttp2_submit_request(raw, nil, fields, count, &provider, data)
            }
            place.pointee.stream = stream
            return stream
        } catch {
            streams.release(place)
            throw error
        }
    }

    /// Gives up on a request, for instance because its time is over: RST_STREAM with CANCEL. It ends as `.unknown`, or
    /// as `.notSent` if its end was not framed yet.
    public func cancel(_ stream: Int32) throws(HTTP2Error) {
        try HTTP2Error.check(nghttp2_submit_rst_stream(handle.raw, 0, stream, ErrorCode.cancel.rawValue), "cancel")
    }

    /// Gives up on a request whose time is over, and says at once what its end will say: whether it was framed whole, and so
    /// may have left. If not, RST_STREAM with CANCEL sees to it that it never is.
    /// - Returns: false: it was not sent. True also where there is no such request.
    public func giveUp(tag: UInt64) -> Bool {
        guard let (stream, isFramed) = streams.find(tag: tag), !isFramed else { return true }
        return (try? cancel(stream)) == nil
    }

    public func ping(_ number: UInt64) throws(HTTP2Error) { try handle.ping(number) }

    /// Tells the peer that we are leaving; open requests go on. Open no more afterwards.
    public func goaway() throws(HTTP2Error) {
        streams.hasSentGoaway = true
        try handle.goaway(lastStream: 0, code: .noError, debug: [])
    }

    /// GOAWAY, after which the session is over at once. What is open is settled by `abandon`.
    public func terminate(_ code: ErrorCode = .noError) throws(HTTP2Error) {
        streams.hasSentGoaway = true
        try HTTP2Error.check(nghttp2_session_terminate_session(handle.raw, code.rawValue), "terminate")
    }

    /// Takes what arrived, in pieces of any size.
    /// - Throws: when the session cannot go on. Other violations come as `.failed` after the next `collect`.
    public func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) { try handle.receive(bytes) }

    /// Appends what is to be sent, until `output` holds at least `limit` bytes (it may go one frame beyond) or nothing
    /// is left. One record of TLS holds 16 KB, hence the default.
    public func collect(into output: inout [UInt8], upTo limit: Int = 16_384) throws(HTTP2Error) {
        while output.count < limit {
            let count = try handle.collectOne(into: &output)
            producedBytes += UInt64(count)
            streams.chunkEnded(at: producedBytes)
            if count == 0 { return }
        }
    }

    /// Replaces `events` with what happened since the last call. Hand in the same array to spare the allocation.
    public func takeEvents(into events: inout [ClientEvent]) {
        events.removeAll(keepingCapacity: true)
        swap(&events, &streams.events)
    }

    /// Settles all open requests, for the connection is gone (nghttp2 itself would not): answered, not sent or unknown.
    /// - Parameter acceptedBytes: how many of `producedBytes` the connection took, if that is known; a request whose end lies
    ///   beyond was not sent. `nil`: all that was collected counts as sent.
    public func abandon(acceptedBytes: UInt64? = nil) { streams.abandon(acceptedBytes: acceptedBytes ?? producedBytes) }
}

// MARK: - Callbacks. User data is the session's ClientStreams, which it keeps alive.

private func setClientCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, data in
        if let frame { owner(data) { $0.received(session, frame) } }
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        session, frame, name, nameLength, value, valueLength, _, data in
        guard let frame else { return 0 }
        let isKept = owner(data) { streams in
            streams.slot(session, frame.pointee.hd.stream_id).map {
                streams.received(
                    field: UnsafeBufferPointer(start: name, count: nameLength),
                    UnsafeBufferPointer(start: value, count: valueLength), slot: $0)
            } ?? true
        }
        return isKept == false ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue : 0  // resets this stream only
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, data in
        owner(data) { streams in
            guard let place = streams.slot(session, stream) else { return }
            streams.received(body: UnsafeBufferPointer(start: bytes, count: count), slot: place)
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, data in
        owner(data) { streams in
            if let place = streams.slot(session, stream) { streams.end(place, code: code) }
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, data in
        if let frame { owner(data) { $0.sent(session, frame) } }
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, data in
        if let frame { owner(data) { $0.notSent(frame) } }
        return 0
    }
    nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, length, data in
        if let text { owner(data) { $0.libraryText = libraryText(text, length) } }
        return 0
    }
}

/// The session's owner holds its streams while a callback runs: no reference need be counted.
@inline(__always)
@discardableResult
private func owner<R>(_ data: UnsafeMutableRawPointer?, _ body: (ClientStreams) -> R) -> R? {
    data.map { Unmanaged<ClientStreams>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
}

private func readRequestBody(
    _: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ room: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _: UnsafeMutableRawPointer?
) -> Int {
    guard let slot = source?.pointee.ptr?.assumingMemoryBound(to: ClientStreams.Slot.self),
        slot.pointee.stream == stream
    else {
        return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    return SessionHandle.copy(
        slot.pointee.body, from: &slot.pointee.bodyOffset, to: buffer, room: room, flags: flags)
}

func libraryText(_ text: UnsafePointer<CChar>, _ length: Int) -> String {
    UnsafeRawBufferPointer(start: text, count: min(length, 500)).withMemoryRebound(to: UInt8.self) {
        String(decoding: $0, as: UTF8.self)
    }
}
