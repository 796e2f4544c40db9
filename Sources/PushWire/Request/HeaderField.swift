/// One field of a request's header, with what HPACK should do about it.
public struct HeaderField: Sendable {
    /// Lower case; pseudo-header fields with their colon.
    public let name: StaticString
    public let value: [UInt8]
    public let indexing: Indexing

    /// Source: Apple, "Sending notification requests to APNs" (ref T24): APNs keeps a small dynamic table.
    public enum Indexing: Hashable, Sendable {
        /// A literal that never enters the table.
        case never
        /// Enters the table on a connection's first request, which puts the name there; a literal afterwards.
        case firstTime
        /// Enters the table, and is an index from then on.
        case always
    }

    public init(name: StaticString, value: [UInt8], indexing: Indexing) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}

extension HeaderField: Equatable {
    public static func == (left: HeaderField, right: HeaderField) -> Bool {
        left.value == right.value && left.indexing == right.indexing
            && left.name.withUTF8Buffer { left in right.name.withUTF8Buffer { left.elementsEqual($0) } }
    }
}
