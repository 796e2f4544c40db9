internal import CNghttp2

/// The requests of one client session that are not over, and the events for its owner. The session's callbacks write
/// here: each copies its bytes before it returns, and none throws, waits or calls out.
final class ClientStreams {
    struct Slot {
        var stream: Int32 = 0  // 0: free
        var tag: UInt64 = 0
        var body: [UInt8] = []
        var bodyOffset = 0
        /// Where in our output the end of this request lies, in bytes since the beginning; `.max`: not framed yet.
        var endOffset = UInt64.max
        var status = 0
        var headers = HeaderBlock()
        var answer: [UInt8] = []
        var isComplete = false
        var isCut = false
    }

    private(set) var slots: [Slot] = []
    private var free: [Int] = []
    var events: [ClientEvent] = []
    var openCount = 0
    var remoteMaxStreams: Int?
    var lastStreamOfGoaway: Int32?
    /// The slot whose END_STREAM lies in the chunk that is being handed out.
    var justEnded: Int?
    var hasSentGoaway = false
    var libraryText = ""

    func claim(tag: UInt64, body: [UInt8]) -> Int {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot()) }
        slots[index].tag = tag
        slots[index].body = body
        openCount += 1
        return index
    }

    /// Rare, so a search will do.
    func find(tag: UInt64) -> (stream: Int32, isFramed: Bool)? {
        slots.first { $0.stream != 0 && $0.tag == tag }.map { ($0.stream, $0.endOffset != .max) }
    }

    func began(_ index: Int, stream: Int32) { slots[index].stream = stream }

    func release(_ index: Int) {
        slots[index] = Slot()
        free.append(index)
        openCount -= 1
    }

    func end(_ index: Int, code: UInt32) {
        let slot = slots[index]
        let outcome: RequestOutcome =
            if slot.status >= 200 {
                .answered(response(slot))
            } else if let last = lastStreamOfGoaway, slot.stream > last {
                .notSent(.beyondGoaway)
            } else if code == ErrorCode.refusedStream.rawValue {
                .notSent(.refusedStream)
            } else if slot.endOffset == .max {
                .notSent(.incomplete)
            } else {
                .unknown(.reset(ErrorCode(rawValue: code)))
            }
        finish(index, outcome)
    }

    /// nghttp2_session_del calls no callback: what is still open is settled here.
    func abandon(acceptedBytes: UInt64) {
        for index in slots.indices where slots[index].stream != 0 {
            let slot = slots[index]
            let outcome: RequestOutcome =
                if slot.status >= 200 {
                    .answered(response(slot))
                } else if let last = lastStreamOfGoaway, slot.stream > last {
                    .notSent(.beyondGoaway)
                } else if slot.endOffset > acceptedBytes {
                    .notSent(.incomplete)
                } else {
                    .unknown(.connectionLost)
                }
            finish(index, outcome)
        }
    }

    func chunkEnded(at offset: UInt64) {
        guard let index = justEnded else { return }
        slots[index].endOffset = offset
        justEnded = nil
    }

    private func response(_ slot: Slot) -> Response {
        Response(
            status: slot.status, headers: slot.headers, body: slot.answer, isComplete: slot.isComplete && !slot.isCut)
    }

    private func finish(_ index: Int, _ outcome: RequestOutcome) {
        events.append(.closed(RequestEnd(tag: slots[index].tag, stream: slots[index].stream, outcome: outcome)))
        if justEnded == index { justEnded = nil }
        release(index)
    }

    // MARK: Called by the callbacks

    func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int? {
        // User data is the slot's index plus one, so that null means none.
        guard let data = nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        let index = Int(bitPattern: data) - 1
        return slots.indices.contains(index) && slots[index].stream == stream ? index : nil
    }

    func received(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        let flags = UInt32(head.flags)
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let index = slot(session, head.stream_id) {
                slots[index].isComplete = true
            }
        case NGHTTP2_SETTINGS.rawValue where flags & NGHTTP2_FLAG_ACK.rawValue == 0:
            let limit = Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
            remoteMaxStreams = limit
            events.append(.settings(maxConcurrentStreams: limit))
        case NGHTTP2_PING.rawValue where flags & NGHTTP2_FLAG_ACK.rawValue != 0:
            events.append(.pong(pingNumber(frame)))
        case NGHTTP2_GOAWAY.rawValue:
            let goaway = frame.pointee.goaway
            lastStreamOfGoaway = min(lastStreamOfGoaway ?? .max, goaway.last_stream_id)
            events.append(
                .goaway(
                    lastStream: goaway.last_stream_id, code: ErrorCode(rawValue: goaway.error_code),
                    debug: debugData(goaway)))
        default: break
        }
    }

    func received(field name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, slot index: Int) -> Bool
    {
        if name.first == UInt8(ascii: ":") {
            slots[index].headers.removeAll()  // an interim answer (1xx) came before
            slots[index].status = statusNumber(value)
            return true
        }
        guard slots[index].headers.storage.count + name.count + value.count <= ClientSession.headerBytesAtMost else {
            return false
        }
        return slots[index].headers.append(name, value, .indexed)
    }

    func received(body chunk: UnsafeBufferPointer<UInt8>, slot index: Int) {
        let room = ClientSession.bodyBytesAtMost - slots[index].answer.count
        slots[index].answer.append(contentsOf: chunk.prefix(room))
        if chunk.count > room { slots[index].isCut = true }
    }

    func sent(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 { justEnded = slot(session, head.stream_id) }
        case NGHTTP2_GOAWAY.rawValue where !hasSentGoaway && frame.pointee.goaway.error_code != 0:
            hasSentGoaway = true
            events.append(
                .failed(.peerViolation(code: ErrorCode(rawValue: frame.pointee.goaway.error_code), text: libraryText)))
        default: break
        }
    }

    func notSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue,
            let index = slots.firstIndex(where: { $0.stream == head.stream_id })  // rare, so a search will do
        else { return }
        finish(index, .notSent(lastStreamOfGoaway.map { head.stream_id > $0 } == true ? .beyondGoaway : .incomplete))
    }

    func read(
        slot index: Int, into buffer: UnsafeMutablePointer<UInt8>?, room: Int, flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        guard slots.indices.contains(index) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        return SessionHandle.copy(
            slots[index].body, from: &slots[index].bodyOffset, to: buffer, room: room, flags: flags)
    }
}

func pingNumber(_ frame: UnsafePointer<nghttp2_frame>) -> UInt64 {
    withUnsafeBytes(of: frame.pointee.ping.opaque_data) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
}

/// At most 1 KB of it: a reason is short.
func debugData(_ goaway: nghttp2_goaway) -> [UInt8] {
    [UInt8](UnsafeBufferPointer(start: goaway.opaque_data, count: min(1024, goaway.opaque_data_len)))
}
