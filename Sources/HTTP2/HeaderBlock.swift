/// Header fields in order, in one piece of memory: cheap to fill, to keep and to fill again.
///
/// Names are lowercase ASCII, pseudo-headers (`:method`) come first; the session's library checks both on the other
/// side.
public struct HeaderBlock: Sendable {
    /// How a field is to be compressed (HPACK, RFC 7541, 6.2). Which field wants which is Apple's advice (ref T24).
    /// nghttp2 never indexes `authorization`, whatever it is told.
    public enum Indexing: UInt8, Sendable {
        /// Enters the table, so that the next one costs a byte.
        case indexed
        /// Enters the table on its first use in a session, which gets the name in, and not afterwards.
        case firstTimeOnly
        /// Never enters the table.
        case literal
    }

    // Per field: eight bytes (length of the name 16 bits, of the value 16, indexing above), name, value. Behind them room.
    private var storage: [UInt8] = []
    /// How much of `storage` the fields take.
    private(set) var byteCount = 0
    public private(set) var count = 0
    static let headBytes = 8

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// Keeps the memory.
    public mutating func removeAll() {
        byteCount = 0
        count = 0
    }

    /// - Returns: `false`, and nothing is added, if the value is beyond 65,535 bytes.
    @discardableResult
    public mutating func append(_ name: StaticString, _ value: [UInt8], _ indexing: Indexing = .indexed) -> Bool {
        value.withUnsafeBufferPointer { append(bytes(of: name), $0, indexing) }
    }

    @discardableResult
    public mutating func append(_ name: StaticString, _ value: String, _ indexing: Indexing = .indexed) -> Bool {
        var value = value
        return value.withUTF8 { append(bytes(of: name), $0, indexing) }
    }

    /// - Parameter value: copied.
    @discardableResult
    public mutating func append(_ name: StaticString, _ value: Span<UInt8>, _ indexing: Indexing) -> Bool {
        value.withUnsafeBufferPointer { append(bytes(of: name), $0, indexing) }
    }

    mutating func append(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ indexing: Indexing
    ) -> Bool {
        guard name.count <= 0xFFFF, value.count <= 0xFFFF else { return false }
        let start = byteCount
        let end = start + Self.headBytes + name.count + value.count
        if end > storage.count { makeRoom(for: end) }
        let head = UInt64(name.count) | UInt64(value.count) << 16 | UInt64(indexing.rawValue) << 32
        let isIn = storage.withUnsafeMutableBytes { room in
            // Three appends would each look at the array and its room anew: this is called ten times a request.
            guard let base = room.baseAddress, end <= room.count else { return false }
            (base + start).storeBytes(of: head, as: UInt64.self)
            if let text = name.baseAddress {
                (base + start + Self.headBytes).copyMemory(from: text, byteCount: name.count)
            }
            if let text = value.baseAddress {
                (base + end - value.count).copyMemory(from: text, byteCount: value.count)
            }
            return true
        }
        guard isIn else { return false }
        byteCount = end
        count += 1
        return true
    }

    private mutating func makeRoom(for bytes: Int) {
        let wanted = max(bytes, 2 * storage.count, 256)
        storage.append(contentsOf: repeatElement(0, count: wanted - storage.count))
    }

    /// The first value of that name; `nil` if there is none. Runs over all fields.
    public func value(of name: StaticString) -> [UInt8]? {
        let wanted = bytes(of: name)
        var found: [UInt8]?
        forEachField { field, value, _ in
            if found == nil, field.elementsEqual(wanted) { found = [UInt8](value) }
        }
        return found
    }

    /// The same as text; bytes that are not UTF-8 become U+FFFD.
    public func text(of name: StaticString) -> String? { value(of: name).map { String(decoding: $0, as: UTF8.self) } }

    /// How many fields have that name: one that must stand once can be checked.
    public func count(of name: StaticString) -> Int {
        let wanted = bytes(of: name)
        var count = 0
        forEachField { field, _, _ in if field.elementsEqual(wanted) { count += 1 } }
        return count
    }

    /// How the first field of that name is compressed, or was, when it came from the peer (there `literal` means one that
    /// never enters a table); `nil` if there is none.
    public func indexing(of name: StaticString) -> Indexing? {
        let wanted = bytes(of: name)
        var found: Indexing?
        forEachField { field, _, indexing in if found == nil, field.elementsEqual(wanted) { found = indexing } }
        return found
    }

    /// All fields as text, in order.
    public var fields: [(name: String, value: String)] {
        var list: [(name: String, value: String)] = []
        forEachField { name, value, _ in
            list.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return list
    }

    func forEachField(_ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, Indexing) -> Void) {
        withStorage { for (name, value, indexing) in $0 { body(name, value, indexing) } }
    }

    /// All that the fields point to is valid until `body` has returned.
    @inline(__always)
    func withStorage<R>(_ body: (Fields) -> R) -> R {
        storage.withUnsafeBytes { body(Fields(bytes: $0, count: count)) }
    }

    struct Fields: Sequence, IteratorProtocol {
        fileprivate let bytes: UnsafeRawBufferPointer
        fileprivate var count: Int
        private var place = 0

        fileprivate init(bytes: UnsafeRawBufferPointer, count: Int) { (self.bytes, self.count) = (bytes, count) }

        @inline(__always)
        mutating func next() -> (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, Indexing)? {
            guard count > 0, let start = bytes.baseAddress else { return nil }
            count -= 1
            let head = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let name = place + HeaderBlock.headBytes
            let value = name + Int(head & 0xFFFF)
            place = value + Int(head >> 16 & 0xFFFF)
            let text = start.assumingMemoryBound(to: UInt8.self)
            return (
                UnsafeBufferPointer(start: text + name, count: value - name),
                UnsafeBufferPointer(start: text + value, count: place - value),
                Indexing(rawValue: UInt8(truncatingIfNeeded: head >> 32)) ?? .literal
            )
        }
    }
}

extension HeaderBlock: Hashable {
    public static func == (left: HeaderBlock, right: HeaderBlock) -> Bool {
        left.count == right.count && left.byteCount == right.byteCount
            && left.storage.prefix(left.byteCount) == right.storage.prefix(right.byteCount)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(storage.prefix(byteCount)) }
}

private func bytes(of name: StaticString) -> UnsafeBufferPointer<UInt8> {
    name.hasPointerRepresentation
        ? UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount) : .init(start: nil, count: 0)
}
