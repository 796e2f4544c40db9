public import CardRules

/// Reads a compiled zone file (RFC 8536) into a table: the 64-bit block, and the closing rule up to a fixed year.
public enum TZifReader {
    /// Until the end of this year the closing rule is written out as transitions.
    public static let lastYear = 2100

    public static func zone(named name: String, from file: Span<UInt8>) throws(TZifFault) -> Zone {
        var reader = ByteReader()
        let first = try Header(file, &reader)
        guard first.version >= 2 else { throw .versionOne }
        try reader.skip(first.bytes(timeBytes: 4), file)
        let header = try Header(file, &reader)
        guard header.leapCount == 0 else { throw .leapSeconds }
        guard header.typeCount > 0 else { throw .inconsistent }

        var times: [Int64] = []
        for _ in 0..<header.timeCount { times.append(Int64(bitPattern: try reader.unsigned(bytes: 8, file))) }
        var types: [Int] = []
        for _ in 0..<header.timeCount { types.append(Int(try reader.unsigned(bytes: 1, file))) }
        var offsets: [Int32] = []
        for _ in 0..<header.typeCount {
            offsets.append(Int32(truncatingIfNeeded: Int64(try reader.unsigned(bytes: 4, file))))
            try reader.skip(2, file)
        }
        try reader.skip(header.charCount + header.standardCount + header.utCount, file)
        guard types.allSatisfy({ $0 < offsets.count }) else { throw .inconsistent }

        var transitions = zip(times, types).map { Zone.Transition(at: $0, offsetSeconds: offsets[$1]) }
        let rule = try footer(file, &reader)
        if !rule.isEmpty {
            let last = times.last ?? .min
            transitions += try PosixRule(rule).transitions(after: last, throughYear: lastYear)
        }
        guard let zone = Zone(name: name, offsetBefore: offsets[0], transitions: transitions) else {
            throw .inconsistent
        }
        return zone
    }

    private static func footer(_ file: Span<UInt8>, _ reader: inout ByteReader) throws(TZifFault) -> String {
        guard try reader.unsigned(bytes: 1, file) == 0x0A else { throw .inconsistent }
        var rule: [UInt8] = []
        while true {
            let byte = UInt8(truncatingIfNeeded: try reader.unsigned(bytes: 1, file))
            guard byte != 0x0A else { return String(decoding: rule, as: UTF8.self) }
            guard rule.count < 256 else { throw .inconsistent }
            rule.append(byte)
        }
    }

    private struct Header {
        let version: Int
        let utCount: Int
        let standardCount: Int
        let leapCount: Int
        let timeCount: Int
        let typeCount: Int
        let charCount: Int

        init(_ file: Span<UInt8>, _ reader: inout ByteReader) throws(TZifFault) {
            guard file.count >= 4 else { throw .notTZif }
            guard try reader.unsigned(bytes: 4, file) == 0x545A_6966 else { throw .notTZif }
            let mark = try reader.unsigned(bytes: 1, file)
            version = mark == 0 ? 1 : Int(mark) - Int(UInt8(ascii: "0"))
            try reader.skip(15, file)
            utCount = try Header.count(file, &reader)
            standardCount = try Header.count(file, &reader)
            leapCount = try Header.count(file, &reader)
            timeCount = try Header.count(file, &reader)
            typeCount = try Header.count(file, &reader)
            charCount = try Header.count(file, &reader)
        }

        /// No count can exceed the bytes of the file, so nothing large is ever set aside for it.
        private static func count(_ file: Span<UInt8>, _ reader: inout ByteReader) throws(TZifFault) -> Int {
            let count = Int(try reader.unsigned(bytes: 4, file))
            guard count <= file.count else { throw .truncated }
            return count
        }

        func bytes(timeBytes: Int) -> Int {
            timeCount * (timeBytes + 1) + typeCount * 6 + charCount + leapCount * (timeBytes + 4) + standardCount
                + utCount
        }
    }
}

/// Big-endian numbers, one after the other.
private struct ByteReader {
    private var position = 0

    mutating func skip(_ count: Int, _ file: Span<UInt8>) throws(TZifFault) {
        guard count <= file.count - position else { throw .truncated }
        position += count
    }

    mutating func unsigned(bytes: Int, _ file: Span<UInt8>) throws(TZifFault) -> UInt64 {
        guard bytes <= file.count - position else { throw .truncated }
        var value: UInt64 = 0
        for _ in 0..<bytes {
            value = value << 8 | UInt64(file[position])
            position += 1
        }
        return value
    }
}
