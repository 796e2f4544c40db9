import CardRules

@testable import Intake

/// Messages of the stream, written as the protocol says.
struct MessageBytes {
    var bytes: [UInt8] = []

    init(_ kind: Character) { bytes.append(contentsOf: "\(kind)".utf8) }

    func number(_ value: some FixedWidthInteger) -> MessageBytes {
        var copy = self
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            copy.bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
        return copy
    }

    func text(_ text: String) -> MessageBytes { raw(Array(text.utf8) + [0]) }

    func raw(_ more: [UInt8]) -> MessageBytes {
        var copy = self
        copy.bytes += more
        return copy
    }

    /// A row. `nil` is NULL, `.some(nil)` a value that was not touched.
    func tuple(_ values: [String??]) -> MessageBytes {
        var copy = number(UInt16(values.count))
        for value in values {
            switch value {
            case nil: copy = copy.raw(Array("n".utf8))
            case .some(nil): copy = copy.raw(Array("u".utf8))
            case .some(.some(let text)):
                copy = copy.raw(Array("t".utf8)).number(UInt32(text.utf8.count)).raw(Array(text.utf8))
            }
        }
        return copy
    }

    static func begin(at microseconds: Int64 = 0, commit: UInt64 = 0x10) -> [UInt8] {
        MessageBytes("B").number(commit).number(microseconds).number(UInt32(7)).bytes
    }

    static func commit(end: UInt64, at microseconds: Int64 = 0) -> [UInt8] {
        MessageBytes("C").number(UInt8(0)).number(end - 1).number(end).number(microseconds).bytes
    }

    /// The first column is the key.
    static func relation(
        _ columns: [String], number: UInt32 = 5, schema: String = "public", name: String = "game"
    ) -> [UInt8] {
        var message = MessageBytes("R").number(number).text(schema).text(name).raw(Array("d".utf8))
            .number(UInt16(columns.count))
        for (place, column) in columns.enumerated() {
            message = message.number(UInt8(place == 0 ? 1 : 0)).text(column).number(UInt32(25)).number(UInt32.max)
        }
        return message.bytes
    }

    static func insert(_ values: [String??], number: UInt32 = 5) -> [UInt8] {
        MessageBytes("I").number(number).raw(Array("N".utf8)).tuple(values).bytes
    }

    static func update(_ values: [String??], key: [String??]? = nil, number: UInt32 = 5) -> [UInt8] {
        var message = MessageBytes("U").number(number)
        if let key { message = message.raw(Array("K".utf8)).tuple(key) }
        return message.raw(Array("N".utf8)).tuple(values).bytes
    }

    static func delete(_ key: [String??], number: UInt32 = 5) -> [UInt8] {
        MessageBytes("D").number(number).raw(Array("K".utf8)).tuple(key).bytes
    }

    static func truncate(_ numbers: [UInt32] = [5]) -> [UInt8] {
        var message = MessageBytes("T").number(UInt32(numbers.count)).number(UInt8(0))
        for number in numbers { message = message.number(number) }
        return message.bytes
    }

    /// Inside the stream.
    static func data(_ message: [UInt8]) -> [UInt8] {
        MessageBytes("w").number(UInt64(1)).number(UInt64(2)).number(UInt64(3)).raw(message).bytes
    }

    static func keepalive(end: UInt64, wantsAnswer: Bool = false) -> [UInt8] {
        MessageBytes("k").number(end).number(UInt64(3)).number(UInt8(wantsAnswer ? 1 : 0)).bytes
    }
}
