/// Header fields in order, in one piece of memory: cheap to fill, to keep and to fill again.
///
/// Names are lowercase ASCII, pseudo-headers (`:method`) come first; the session's library checks both on the other
/// side.
public struct HeaderBlock: Hashable, Sendable {
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

    // Per field: indexing (1 byte), length of the name (2), length of the value (2), name, value.
    private(set) var storage: [UInt8] = []
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// Keeps the memory.
    public mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
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
        if storage.isEmpty { storage.reserveCapacity(128) }
        storage.append(indexing.rawValue)
        storage.append(UInt8(truncatingIfNeeded: name.count))
        storage.append(UInt8(truncatingIfNeeded: name.count >> 8))
        storage.append(UInt8(truncatingIfNeeded: value.count))
        storage.append(UInt8(truncatingIfNeeded: value.count >> 8))
        storage.append(contentsOf: name)
        storage.append(contentsOf: value)
        count += 1
        return true
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
        withFieldPointers(body, then: {})
    }

    /// Calls `body` for each field and `then` at the end; all pointers are valid until `then` has returned.
    func withFieldPointers<R>(
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, Indexing) -> Void, then: () -> R
    ) -> R {
        storage.withUnsafeBufferPointer { bytes in
            var at = 0
            for _ in 0..<count {
                let nameLength = Int(bytes[at + 1]) | Int(bytes[at + 2]) << 8
                let valueLength = Int(bytes[at + 3]) | Int(bytes[at + 4]) << 8
                let indexing = Indexing(rawValue: bytes[at]) ?? .literal
                let name = at + 5
                let value = name + nameLength
                at = value + valueLength
                body(
                    UnsafeBufferPointer(rebasing: bytes[name..<value]),
                    UnsafeBufferPointer(rebasing: bytes[value..<at]), indexing)
            }
            return then()
        }
    }
}

private func bytes(of name: StaticString) -> UnsafeBufferPointer<UInt8> {
    name.hasPointerRepresentation
        ? UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount) : .init(start: nil, count: 0)
}
