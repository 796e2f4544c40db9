internal import CNghttp2

/// The requests that one server session has not answered whole, and the events for its owner. The session's callbacks
/// write here: each copies its bytes before it returns, and none throws, waits or calls out.
final class ServerStreams {
    struct Slot {
        var stream: Int32 = 0  // 0: free
        var headers = HeaderBlock()
        var body: [UInt8] = []
        var bodyBytes = 0
        var hasArrived = false
        var answer: [UInt8] = []
        var answerOffset = 0
        var hasResponded = false
        var hasSentAnswer = false
    }

    var slots: [Slot] = []
    private var free: [Int] = []
    var events: [ServerEvent] = []
    var openCount = 0
    var hasSentGoaway = false
    var libraryText = ""

    func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int? {
        // User data is the slot's index plus one, so that null means none.
        guard let data = nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        let index = Int(bitPattern: data) - 1
        return slots.indices.contains(index) && slots[index].stream == stream ? index : nil
    }

    // MARK: Called by the callbacks

    func began(_ session: OpaquePointer?, stream: Int32) {
        guard slot(session, stream) == nil else { return }  // trailers
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot()) }
        slots[index].stream = stream
        openCount += 1
        nghttp2_session_set_stream_user_data(session, stream, UnsafeMutableRawPointer(bitPattern: index + 1))
    }

    /// - Parameter isLiteral: it came as one that never enters the table (RFC 7541, 6.2.3).
    func received(
        field name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isLiteral: Bool, slot index: Int
    ) -> Bool {
        guard slots[index].headers.byteCount + name.count + value.count <= ServerSession.headerBytesAtMost else {
            return false
        }
        return slots[index].headers.append(name, value, isLiteral ? .literal : .indexed)
    }

    /// The library refused a stream beyond our limit.
    func refused(stream: Int32) { events.append(.beyondLimit(stream: stream)) }

    func received(body chunk: UnsafeBufferPointer<UInt8>, slot index: Int) {
        slots[index].bodyBytes += chunk.count
        slots[index].body.append(contentsOf: chunk.prefix(ServerSession.bodyBytesAtMost - slots[index].body.count))
    }

    func received(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        let flags = UInt32(head.flags)
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let index = slot(session, head.stream_id),
                !slots[index].hasArrived
            else { return }
            slots[index].hasArrived = true
            events.append(
                .request(
                    ServerRequest(
                        stream: head.stream_id, headers: slots[index].headers, body: slots[index].body,
                        bodyBytes: slots[index].bodyBytes)))
            (slots[index].headers, slots[index].body) = (HeaderBlock(), [])
        case NGHTTP2_SETTINGS.rawValue where flags & NGHTTP2_FLAG_ACK.rawValue != 0:
            events.append(.settingsAcknowledged)
        case NGHTTP2_PING.rawValue where flags & NGHTTP2_FLAG_ACK.rawValue != 0:
            events.append(.pong(pingNumber(frame)))
        case NGHTTP2_GOAWAY.rawValue:
            let goaway = frame.pointee.goaway
            events.append(
                .goaway(
                    lastStream: goaway.last_stream_id, code: ErrorCode(rawValue: goaway.error_code),
                    debug: debugData(goaway)))
        default: break
        }
    }

    func sent(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let index = slot(session, head.stream_id) {
                slots[index].hasSentAnswer = true
            }
        case NGHTTP2_GOAWAY.rawValue where !hasSentGoaway && frame.pointee.goaway.error_code != 0:
            hasSentGoaway = true
            events.append(
                .failed(.peerViolation(code: ErrorCode(rawValue: frame.pointee.goaway.error_code), text: libraryText)))
        default: break
        }
    }

    func closed(_ session: OpaquePointer?, stream: Int32, code: UInt32) {
        guard let index = slot(session, stream) else { return }
        if !slots[index].hasSentAnswer { events.append(.cancelled(stream: stream, code: ErrorCode(rawValue: code))) }
        slots[index] = Slot()
        free.append(index)
        openCount -= 1
    }

    func read(
        slot index: Int, into buffer: UnsafeMutablePointer<UInt8>?, room: Int, flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        guard slots.indices.contains(index) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        return SessionHandle.copy(
            slots[index].answer, from: &slots[index].answerOffset, to: buffer, room: room, flags: flags)
    }
}
