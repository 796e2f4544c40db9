internal import CNghttp2

/// Owns one nghttp2 session; what client and server have in common. Freed when the value dies, which calls no callback.
/// The session borrows `userData` for its callbacks: whoever owns the handle keeps that object alive.
struct SessionHandle: ~Copyable {
    let raw: OpaquePointer
    private let fields: UnsafeMutableBufferPointer<nghttp2_nv>  // scratch, ours: freed in deinit
    private let names = Names()
    private let memory = SessionMemory()  // the session's: it ends first

    static let fieldsAtMost = 64

    init(
        isServer: Bool, userData: UnsafeMutableRawPointer, callbacks set: (OpaquePointer) -> Void
    ) throws(HTTP2Error) {
        var callbacks: OpaquePointer?
        try HTTP2Error.check(nghttp2_session_callbacks_new(&callbacks), "make callbacks")
        defer { nghttp2_session_callbacks_del(callbacks) }  // the session keeps a copy
        if let callbacks { set(callbacks) }
        var session: OpaquePointer?
        var memory = memory.callbacks  // the session keeps a copy
        let make = isServer ? nghttp2_session_server_new3 : nghttp2_session_client_new3
        try HTTP2Error.check(make(&session, callbacks, userData, nil, &memory), "make a session")
        guard let session else { throw .library(operation: "make a session", code: 0, text: "no session") }
        raw = session
        fields = .allocate(capacity: Self.fieldsAtMost)
        fields.initialize(repeating: nghttp2_nv())
    }

    deinit {
        nghttp2_session_del(raw)
        fields.deallocate()
    }

    var heldPieces: Int { memory.held }
    var wantsRead: Bool { nghttp2_session_want_read(raw) != 0 }
    var wantsWrite: Bool { nghttp2_session_want_write(raw) != 0 }

    func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        guard !bytes.isEmpty else { return }
        let taken = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(raw, $0.baseAddress, $0.count) }
        try HTTP2Error.check(Int32(clamping: taken), "receive")
    }

    /// - Returns: how many bytes nghttp2 handed out; 0 when it has nothing to say.
    func collectOne(into output: inout [UInt8]) throws(HTTP2Error) -> Int {
        var start: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(raw, &start)
        try HTTP2Error.check(Int32(clamping: count), "send")
        guard count > 0, let start else { return 0 }
        output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))  // valid until the next call only
        return count
    }

    func ping(_ number: UInt64) throws(HTTP2Error) {
        let code = withUnsafeBytes(of: number.bigEndian) {
            nghttp2_submit_ping(raw, 0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        try HTTP2Error.check(code, "ping")
    }

    func settings(_ values: [(nghttp2_settings_id, UInt32)]) throws(HTTP2Error) {
        let entries = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        try HTTP2Error.check(nghttp2_submit_settings(raw, 0, entries, entries.count), "settings")
    }

    func goaway(lastStream: Int32, code: ErrorCode, debug: [UInt8]) throws(HTTP2Error) {
        try HTTP2Error.check(nghttp2_submit_goaway(raw, 0, lastStream, code.rawValue, debug, debug.count), "goaway")
    }

    /// Hands the fields to `submit` in nghttp2's form; it copies them before it returns. The order: `status`, the
    /// pseudo-headers that `block` begins with, `shared`, the rest of `block`.
    func withFields(
        _ block: HeaderBlock, shared: HeaderBlock = HeaderBlock(), status: [UInt8] = [],
        _ submit: (UnsafePointer<nghttp2_nv>?, Int) -> Int32
    ) throws(HTTP2Error) -> Int32 {
        guard block.count + shared.count < Self.fieldsAtMost else { throw .headersTooLarge }
        let result = shared.withStorage { shared in
            status.withUnsafeBufferPointer { status in
                block.withStorage { block in
                    var list = FieldList(fields: fields, known: names)
                    if !status.isEmpty {
                        let name: StaticString = ":status"
                        list.put(UnsafeBufferPointer(start: name.utf8Start, count: 7), status, .indexed)
                    }
                    var isSharedIn = false
                    for (name, value, indexing) in block {
                        if !isSharedIn, name.first != UInt8(ascii: ":") {
                            isSharedIn = true
                            for (name, value, indexing) in shared { list.put(name, value, indexing) }
                        }
                        list.put(name, value, indexing)
                    }
                    if !isSharedIn { for (name, value, indexing) in shared { list.put(name, value, indexing) } }
                    let result = submit(fields.baseAddress, list.count)
                    if result >= 0 { for name in list.new { names.add(name) } }
                    return result
                }
            }
        }
        try HTTP2Error.check(result, "submit")
        return result
    }

    /// Names that are in the table since their first use. An object, so that the handle itself is a constant: nothing need
    /// be checked on each of its uses.
    private final class Names {
        private var short: [ShortName] = []
        private var long: [[UInt8]] = []

        func has(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let wanted = ShortName(name) else { return long.contains { $0.elementsEqual(name) } }
            for known in short where known == wanted { return true }
            return false
        }

        func add(_ name: UnsafeBufferPointer<UInt8>) {
            if let name = ShortName(name) { short.append(name) } else { long.append([UInt8](name)) }
        }
    }

    /// A name of at most sixteen bytes in three words, so that there is no reference to count: compared for every request.
    private struct ShortName: Equatable {
        private let count: Int
        private var first: UInt64 = 0
        private var last: UInt64 = 0

        init?(_ name: UnsafeBufferPointer<UInt8>) {
            count = name.count
            guard count <= 16 else { return nil }
            let bytes = UnsafeRawBufferPointer(name)
            if count >= 8 {
                first = bytes.loadUnaligned(as: UInt64.self)
                last = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            } else {
                for byte in bytes { first = first << 8 | UInt64(byte) }
            }
        }
    }

    private struct FieldList {
        let fields: UnsafeMutableBufferPointer<nghttp2_nv>
        let known: Names
        var new: [UnsafeBufferPointer<UInt8>] = []
        var count = 0

        init(fields: UnsafeMutableBufferPointer<nghttp2_nv>, known: Names) {
            (self.fields, self.known) = (fields, known)
        }

        @inline(__always)
        mutating func put(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ indexing: HeaderBlock.Indexing
        ) {
            var flags = NGHTTP2_NV_FLAG_NONE
            switch indexing {
            case .indexed: break
            case .literal: flags = NGHTTP2_NV_FLAG_NO_INDEX
            case .firstTimeOnly:
                if known.has(name) { flags = NGHTTP2_NV_FLAG_NO_INDEX } else { new.append(name) }
            }
            // nghttp2 wants mutable pointers, and does not write through them.
            fields[count] = nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name.baseAddress),
                value: UnsafeMutablePointer(mutating: value.baseAddress),
                namelen: name.count, valuelen: value.count, flags: UInt8(flags.rawValue))
            count += 1
        }
    }
}

extension SessionHandle {
    /// Copies what is left of `body`, and says when it was all. For a data source's read callback.
    static func copy(
        _ body: [UInt8], from offset: inout Int, to buffer: UnsafeMutablePointer<UInt8>?, room: Int,
        flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        let count = min(room, body.count - offset)
        if count > 0 {
            body.withUnsafeBufferPointer { bytes in
                if let start = bytes.baseAddress { buffer?.update(from: start + offset, count: count) }
            }
        }
        offset += count
        if offset == body.count { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}

/// The number in a `:status` field; 0 if it is none.
func statusNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var number = 0
    guard bytes.count == 3 else { return 0 }
    for byte in bytes {
        guard byte >= 0x30, byte <= 0x39 else { return 0 }
        number = number * 10 + Int(byte - 0x30)
    }
    return number
}
