/// The parameters of one statement in the server's binary form, in order. All of them share one buffer: keep the value
/// between commits and `removeAll` it, and nothing is allocated per row.
public struct PostgresParameters: Hashable, Sendable {
    /// The bytes of all parameters, one behind the other.
    private(set) var bytes: [UInt8] = []
    /// Where each stands; `nil` is NULL.
    private(set) var ranges: [Range<Int>?] = []

    public init() {}

    public var count: Int { ranges.count }

    /// Keeps the memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
    }

    public mutating func null() { ranges.append(nil) }

    public mutating func bool(_ value: Bool) { append { $0.append(value ? 1 : 0) } }

    public mutating func int16(_ value: Int16) { append { $0.append(bigEndian: value) } }

    public mutating func int32(_ value: Int32) { append { $0.append(bigEndian: value) } }

    public mutating func int64(_ value: Int64) { append { $0.append(bigEndian: value) } }

    /// The server refuses a NUL in it (SQLSTATE 22021).
    public mutating func text(_ value: String) { append { $0.append(contentsOf: value.utf8) } }

    public mutating func bytea(_ value: [UInt8]) { append { $0.append(contentsOf: value) } }

    /// A one-dimensional array, for `unnest`: one write of the buffer per element.
    ///
    /// - Parameters:
    ///   - type: of an element. The statement's parameter is the array type that belongs to it.
    ///   - write: must write one value of that type.
    public mutating func array<Element>(
        of type: PostgresType, _ elements: some Collection<Element>,
        _ write: (Element, inout PostgresElement) -> Void
    ) {
        let start = bytes.count
        // Dimensions, whether any is NULL, element type; of the one dimension its size and its lower bound. An empty
        // array has no dimension (`array_recv`).
        bytes.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        let hasNull = bytes.count
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: type.rawValue)
        if !elements.isEmpty {
            bytes.append(bigEndian: Int32(elements.count))
            bytes.append(bigEndian: Int32(1))
            var element = PostgresElement(taking: &bytes)
            for value in elements {
                element.begin()
                write(value, &element)
                element.end()
            }
            let sawNull = element.sawNull
            element.giveBack(&bytes)
            if sawNull { bytes[hasNull + 3] = 1 }
        }
        ranges.append(start..<bytes.count)
    }

    private mutating func append(_ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        ranges.append(start..<bytes.count)
    }
}

/// One element of an array parameter. NULL until something is written.
public struct PostgresElement {
    private var bytes: [UInt8]
    private var start = 0
    private(set) var sawNull = false

    init(taking bytes: inout [UInt8]) {
        self.bytes = []
        swap(&self.bytes, &bytes)
    }

    mutating func giveBack(_ bytes: inout [UInt8]) { swap(&self.bytes, &bytes) }

    mutating func begin() {
        start = bytes.count
        bytes.append(bigEndian: Int32(-1))
    }

    mutating func end() {
        if bytes.count == start + 4, bytes[start] == 0xFF { sawNull = true }
    }

    public mutating func bool(_ value: Bool) { write { $0.append(value ? 1 : 0) } }

    public mutating func int16(_ value: Int16) { write { $0.append(bigEndian: value) } }

    public mutating func int32(_ value: Int32) { write { $0.append(bigEndian: value) } }

    public mutating func int64(_ value: Int64) { write { $0.append(bigEndian: value) } }

    public mutating func text(_ value: String) { write { $0.append(contentsOf: value.utf8) } }

    public mutating func bytea(_ value: [UInt8]) { write { $0.append(contentsOf: value) } }

    /// Replaces what was written of this element.
    private mutating func write(_ body: (inout [UInt8]) -> Void) {
        bytes.removeSubrange((start + 4)...)
        body(&bytes)
        let length = UInt32(truncatingIfNeeded: bytes.count - start - 4)
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * place)) }
    }
}

extension [UInt8] {
    /// Network order.
    mutating func append(bigEndian value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
