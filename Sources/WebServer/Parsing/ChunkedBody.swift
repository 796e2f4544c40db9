/// Reads a body that comes in chunks (RFC 9112, 7.1). Chunk extensions and the fields of the trailer are checked and
/// dropped.
struct ChunkedBody: Sendable {
    private enum Phase: Sendable {
        case size
        case data(remaining: Int)
        case dataEnd
        case trailer(bytes: Int, fields: Int)
    }

    private var phase = Phase.size

    /// Takes what is there.
    /// - Parameters:
    ///   - place: where the unread bytes begin; moved behind what was taken.
    ///   - body: receives the data; beyond `maximumBytes` is a 413 as soon as the chunk's size says so.
    /// - Returns: whether the body is complete.
    mutating func take(
        _ bytes: Span<UInt8>, _ place: inout Int, into body: inout [UInt8], maximumBytes: Int, limits: WebLimits
    ) throws(RequestFault) -> Bool {
        while true {
            switch phase {
            case .size:
                guard let end = Self.lineEnd(bytes, place, atMost: limits.chunkLineBytes) else {
                    guard bytes.count - place < limits.chunkLineBytes else {
                        throw .malformed("The line before a chunk is too long.")
                    }
                    return false
                }
                let size = try Self.size(bytes, place..<end)
                guard size <= maximumBytes - body.count else { throw .tooLarge }
                place = end
                phase = size == 0 ? .trailer(bytes: 0, fields: 0) : .data(remaining: size)
            case .data(let remaining):
                let count = min(remaining, bytes.count - place)
                guard count > 0 else { return false }
                bytes.extracting(place..<place + count).withUnsafeBufferPointer { body.append(contentsOf: $0) }
                place += count
                phase = count == remaining ? .dataEnd : .data(remaining: remaining - count)
            case .dataEnd:
                guard place < bytes.count else { return false }
                guard bytes[place] == .carriageReturn else { throw .malformed("A chunk is longer than it says.") }
                guard place + 1 < bytes.count else { return false }
                guard bytes[place + 1] == .lineFeed else { throw .malformed("A chunk is longer than it says.") }
                place += 2
                phase = .size
            case .trailer(let before, let fields):
                let allowed = limits.trailerBytes - before
                guard let end = Self.lineEnd(bytes, place, atMost: allowed) else {
                    guard bytes.count - place < allowed else { throw RequestFault(431, "The trailer is too long.") }
                    return false
                }
                if end == place + 2, bytes[place] == .carriageReturn {
                    place = end
                    return true
                }
                guard fields < limits.fields else { throw RequestFault(431, "The trailer has too many fields.") }
                let start = place
                _ = try FieldLine(bytes, &place)
                phase = .trailer(bytes: before + place - start, fields: fields + 1)
            }
        }
    }

    /// The place behind the next LF, when it is among so many bytes.
    private static func lineEnd(_ bytes: Span<UInt8>, _ place: Int, atMost count: Int) -> Int? {
        bytes.firstIndex(of: .lineFeed, in: place..<min(bytes.count, place + max(0, count))).map { $0 + 1 }
    }

    /// Hexadecimal digits, then the line's end or `;` and an extension. Nothing else may stand behind the digits: `0x2`
    /// is no 0, and a space is no end.
    private static func size(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestFault) -> Int {
        var place = range.lowerBound
        var size = 0
        while place < range.upperBound, let digit = bytes[place].hexValue {
            guard place - range.lowerBound < 15 else { throw .malformed("The size of a chunk is no sensible number.") }
            size = size << 4 | Int(digit)
            place += 1
        }
        guard place > range.lowerBound else { throw .malformed("A chunk does not begin with its size.") }
        if place < range.upperBound, bytes[place] == UInt8(ascii: ";") {
            while place < range.upperBound, bytes[place].isValueByte { place += 1 }
        }
        guard place + 2 == range.upperBound, bytes[place] == .carriageReturn else {
            throw .malformed("The line before a chunk is malformed.")
        }
        return size
    }
}

extension RequestFault {
    static let tooLarge = RequestFault(413, "The body is larger than is taken here.")
}
