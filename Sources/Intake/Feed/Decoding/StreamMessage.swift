internal import CardRules

/// One message of the replication stream, inside a copy that goes both ways.
/// Source: PostgreSQL, "Streaming Replication Protocol".
enum StreamMessage: Hashable, Sendable {
    /// Where a message of the output plugin stands in the bytes that were read.
    case data(Range<Int>)
    /// The server is alive, and has nothing before `end` that is not sent.
    case keepalive(end: LogPosition, wantsAnswer: Bool)

    static func read(_ bytes: Span<UInt8>, in range: Range<Int>) throws(WireFault) -> StreamMessage {
        var reader = WireReader(range)
        switch try reader.byte(bytes) {
        case UInt8(ascii: "w"):
            _ = try reader.position(bytes)
            _ = try reader.position(bytes)
            _ = try reader.time(bytes)
            return .data(reader.rest)
        case UInt8(ascii: "k"):
            let end = try reader.position(bytes)
            _ = try reader.time(bytes)
            let wantsAnswer = try reader.byte(bytes) != 0
            guard reader.isAtEnd else { throw WireFault(.tooLong, at: reader.position) }
            return .keepalive(end: end, wantsAnswer: wantsAnswer)
        case let kind: throw WireFault(.unknownMessage(kind), at: range.lowerBound)
        }
    }

    /// A standby status update: everything before `confirmed` is durable here, and the slot need not keep it.
    static func status(confirmed: LogPosition, at now: WallTime) -> [UInt8] {
        var message: [UInt8] = [UInt8(ascii: "r")]
        func append(_ value: UInt64) {
            for shift in stride(from: 56, through: 0, by: -8) {
                message.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
        for _ in ["written", "flushed", "applied"] { append(confirmed.rawValue) }
        append(UInt64(bitPattern: ServerTime(now).microseconds))
        message.append(0)  // no answer wanted
        return message
    }
}

extension ServerTime {
    /// Seconds from 1970 to 2000.
    private static let epochMilliseconds: Int64 = 946_684_800_000

    init(_ time: WallTime) {
        let bounded = min(max(time.milliseconds, -8_000_000_000_000_000), 8_000_000_000_000_000)
        microseconds = (bounded - ServerTime.epochMilliseconds) * 1000
    }

    /// To the millisecond, rounded down.
    var wallTime: WallTime {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1000)
        return WallTime(milliseconds: quotient - (remainder < 0 ? 1 : 0) + ServerTime.epochMilliseconds)
    }
}
