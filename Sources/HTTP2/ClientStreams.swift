internal import CNghttp2

/// The requests of one client session that are not over, and the events for its owner. The session's callbacks write
/// here: each copies its bytes before it returns, and none throws, waits or calls out.
///
/// Slots stay at one address from the session's first use of them to its end: a stream's user data points at its slot.
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
        var headerBytes = 0
        var answer: [UInt8] = []
        var isComplete = false
        var isCut = false
        /// While it is free.
        var nextFree: UnsafeMutablePointer<Slot>?
    }

    typealias Place = UnsafeMutablePointer<Slot>

    /// Header fields of answers are kept, not only their status.
    var keepsHeaders = true
    private var blocks: [Place] = []
    private var firstFree: Place?
    var events: [ClientEvent] = []
    var openCount = 0
    var remoteMaxStreams: Int?
    var lastStreamOfGoaway: Int32?
    /// The slot whose END_STREAM lies in the chunk that is being handed out.
    var justEnded: Place?
    var hasSentGoaway = false
    var libraryText = ""

    private static let slotsInBlock = 64

    deinit {
        for block in blocks {
            block.deinitialize(count: Self.slotsInBlock)
            block.deallocate()
        }
    }

    private var places: [Place] { blocks.flatMap { block in (0..<Self.slotsInBlock).map { block + $0 } } }

    func claim(tag: UInt64, body: [UInt8]) -> Place {
        let place = firstFree ?? grow()
        firstFree = place.pointee.nextFree
        place.pointee.tag = tag
        place.pointee.body = body
        openCount += 1
        return place
    }

    private func grow() -> Place {
        let block = Place.allocate(capacity: Self.slotsInBlock)
        block.initialize(repeating: Slot(), count: Self.slotsInBlock)
        for index in 1..<Self.slotsInBlock { block[index - 1].nextFree = block + index }
        blocks.append(block)
        return block
    }

    /// Rare, so a search will do.
    func find(tag: UInt64) -> (stream: Int32, isFramed: Bool)? {
        places.first { $0.pointee.stream != 0 && $0.pointee.tag == tag }
            .map { ($0.pointee.stream, $0.pointee.endOffset != .max) }
    }

    func release(_ place: Place) {
        place.pointee.stream = 0
        place.pointee.body = []
        place.pointee.bodyOffset = 0
        place.pointee.endOffset = .max
        place.pointee.status = 0
        place.pointee.headerBytes = 0
        if !place.pointee.headers.isEmpty { place.pointee.headers = HeaderBlock() }
        if !place.pointee.answer.isEmpty { place.pointee.answer = [] }
        place.pointee.isComplete = false
        place.pointee.isCut = false
        place.pointee.nextFree = firstFree
        firstFree = place
        openCount -= 1
    }

    func end(_ place: Place, code: UInt32) {
        let outcome: RequestOutcome =
            if place.pointee.status >= 200 {
                .answered(response(place))
            } else if let last = lastStreamOfGoaway, place.pointee.stream > last {
                .notSent(.beyondGoaway)
            } else if code == ErrorCode.refusedStream.rawValue {
                .notSent(.refusedStream)
            } else if place.pointee.endOffset == .max {
                .notSent(.incomplete)
            } else {
                .unknown(.reset(ErrorCode(rawValue: code)))
            }
        finish(place, outcome)
    }

    /// nghttp2_session_del calls no callback: what is still open is settled here.
    func abandon(acceptedBytes: UInt64) {
        for place in places where place.pointee.stream != 0 {
            let outcome: RequestOutcome =
                if place.pointee.status >= 200 {
                    .answered(response(place))
                } else if let last = lastStreamOfGoaway, place.pointee.stream > last {
                    .notSent(.beyondGoaway)
                } else if place.pointee.endOffset > acceptedBytes {
                    .notSent(.incomplete)
                } else {
                    .unknown(.connectionLost)
                }
            finish(place, outcome)
        }
    }

    func chunkEnded(at offset: UInt64) {
        guard let place = justEnded else { return }
        place.pointee.endOffset = offset
        justEnded = nil
    }

    private func response(_ place: Place) -> Response {
        Response(
            status: place.pointee.status, headers: place.pointee.headers, body: place.pointee.answer,
            isComplete: place.pointee.isComplete && !place.pointee.isCut)
    }

    private func finish(_ place: Place, _ outcome: RequestOutcome) {
        events.append(
            .closed(RequestEnd(tag: place.pointee.tag, stream: place.pointee.stream, outcome: outcome)))
        if justEnded == place { justEnded = nil }
        release(place)
    }

    // MARK: Called by the callbacks

    func slot(_ session: OpaquePointer?, _ stream: Int32) -> Place? {
        guard let data = nghttp2_session_get_stream_user_data(session, stream) else { return nil }
        let place = data.assumingMemoryBound(to: Slot.self)
        return place.pointee.stream == stream ? place : nil
    }

    func received(_ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        let flags = UInt32(head.flags)
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let place = slot(session, head.stream_id) {
                place.pointee.isComplete = true
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

    func received(field name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, slot place: Place)
        -> Bool
    {
        if name.first == UInt8(ascii: ":") {
            // An interim answer (1xx) came before.
            if !place.pointee.headers.isEmpty { place.pointee.headers.removeAll() }
            place.pointee.headerBytes = 0
            place.pointee.status = statusNumber(value)
            return true
        }
        // Also many empty ones have an end.
        place.pointee.headerBytes += HeaderBlock.headBytes + name.count + value.count
        guard place.pointee.headerBytes <= ClientSession.headerBytesAtMost else { return false }
        return !keepsHeaders || place.pointee.headers.append(name, value, .indexed)
    }

    func received(body chunk: UnsafeBufferPointer<UInt8>, slot place: Place) {
        let room = ClientSession.bodyBytesAtMost - place.pointee.answer.count
        place.pointee.answer.append(contentsOf: chunk.prefix(room))
        if chunk.count > room { place.pointee.isCut = true }
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
            let place = places.first(where: { $0.pointee.stream == head.stream_id })  // rare, so a search will do
        else { return }
        finish(place, .notSent(lastStreamOfGoaway.map { head.stream_id > $0 } == true ? .beyondGoaway : .incomplete))
    }
}

func pingNumber(_ frame: UnsafePointer<nghttp2_frame>) -> UInt64 {
    withUnsafeBytes(of: frame.pointee.ping.opaque_data) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
}

/// At most 1 KB of it: a reason is short.
func debugData(_ goaway: nghttp2_goaway) -> [UInt8] {
    [UInt8](UnsafeBufferPointer(start: goaway.opaque_data, count: min(1024, goaway.opaque_data_len)))
}
