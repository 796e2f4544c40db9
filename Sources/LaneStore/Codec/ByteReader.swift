/// Why stored bytes do not parse.
public struct CodecFault: Error, Hashable, Sendable {
    /// Which field, as a path of names.
    public let field: String
    public let problem: Problem
    /// Where in the bytes.
    public let offset: Int

    public init(field: String, problem: Problem, offset: Int) {
        self.field = field
        self.problem = problem
        self.offset = offset
    }

    public enum Problem: Hashable, Sendable {
        /// The bytes end within it.
        case cut
        /// A value that it cannot have.
        case impossible
        /// A version that this program does not know.
        case version(Int)
        /// Bytes are left over.
        case excess
    }

    /// For people.
    public var detail: String {
        switch problem {
        case .cut: "\(field): the bytes end at \(offset)"
        case .impossible: "\(field): impossible value at byte \(offset)"
        case .version(let found): "\(field): version \(found) is not known"
        case .excess: "\(field): bytes are left over from \(offset) on"
        }
    }
}

/// Reads what `ByteWriter` wrote. Whatever the bytes are, it ends, with a value or a fault; it never asks for more
/// memory than the bytes account for.
struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0
    /// Of the record that is read: what joined later is not in an older one.
    var version = RecordCodec.version

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func fault(_ field: String, _ problem: CodecFault.Problem = .impossible) -> CodecFault {
        CodecFault(field: field, problem: problem, offset: place)
    }

    func finish(_ field: String) throws(CodecFault) {
        guard place == bytes.count else { throw fault(field, .excess) }
    }

    mutating func byte(_ field: String) throws(CodecFault) -> UInt8 {
        guard place < bytes.count else { throw fault(field, .cut) }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func bool(_ field: String) throws(CodecFault) -> Bool {
        switch try byte(field) {
        case 0: return false
        case 1: return true
        default: throw fault(field)
        }
    }

    mutating func unsigned(_ field: String) throws(CodecFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte(field)
            guard shift < 63 || next <= 1 else { throw fault(field) }
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
            shift += 7
            guard shift <= 63 else { throw fault(field) }
        }
    }

    mutating func signed(_ field: String) throws(CodecFault) -> Int64 {
        let value = try unsigned(field)
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func int(_ field: String) throws(CodecFault) -> Int {
        guard let value = Int(exactly: try signed(field)) else { throw fault(field) }
        return value
    }

    mutating func double(_ field: String) throws(CodecFault) -> Double {
        var pattern: UInt64 = 0
        for shift in 0..<8 { pattern |= UInt64(try byte(field)) << UInt64(8 * shift) }
        return Double(bitPattern: pattern)
    }

    mutating func blob(_ field: String) throws(CodecFault) -> [UInt8] { Array(try slice(field)) }

    mutating func text(_ field: String) throws(CodecFault) -> String {
        guard let text = String(validating: try slice(field), as: UTF8.self) else { throw fault(field) }
        return text
    }

    mutating func optional<Value>(
        _ field: String, _ read: (inout ByteReader) throws(CodecFault) -> Value
    ) throws(CodecFault) -> Value? {
        try bool(field) ? try read(&self) : nil
    }

    /// Every element takes a byte or more: a count beyond the bytes left is a cut.
    mutating func list<Element>(
        _ field: String, _ read: (inout ByteReader) throws(CodecFault) -> Element
    ) throws(CodecFault) -> [Element] {
        let count = try unsigned(field)
        guard count <= UInt64(bytes.count - place) else { throw fault(field, .cut) }
        var values: [Element] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    private mutating func slice(_ field: String) throws(CodecFault) -> ArraySlice<UInt8> {
        let count = try unsigned(field)
        guard count <= UInt64(bytes.count - place) else { throw fault(field, .cut) }
        defer { place += Int(count) }
        return bytes[place..<place + Int(count)]
    }
}
