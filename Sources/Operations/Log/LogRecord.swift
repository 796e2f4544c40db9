public import CardRules
internal import TLS

/// One line of the log before it is laid out.
public struct LogRecord: Hashable, Sendable {
    public let at: WallTime
    public let level: LogLevel
    /// Always the same for the same thing.
    public let message: String
    public let fields: [LogField]

    public init(at: WallTime, level: LogLevel, message: String, fields: [LogField] = []) {
        (self.at, self.level, self.message, self.fields) = (at, level, message, fields)
    }
}

/// What varies, under a fixed key.
public struct LogField: Hashable, Sendable {
    public let key: LogKey
    public let value: LogValue

    public init(_ key: LogKey, _ value: LogValue) { (self.key, self.value) = (key, value) }
}

/// Every key that a line may have beside `time`, `level` and `message`.
public enum LogKey: String, Hashable, Sendable, CaseIterable {
    case address
    case apnsID = "apns-id"
    case app
    case card
    case cause
    case changed
    case connection
    case count
    case detail
    case device
    case event
    case file
    case gateway
    case key
    case method
    case node
    case part
    case reason
    case repeated
    case rows
    case rule
    case scope
    case seconds
    case signal
    case status
    case store
    case token
    case verdict
    case version
}

/// A value of a field. A token goes in by its fingerprint only.
public enum LogValue: Hashable, Sendable {
    case text(String)
    case whole(Int)
    case number(Double)
    case flag(Bool)
    case texts([String])

    /// A device token as it may be shown: the first 8 hex digits of the SHA-256 of its lower-case hex text (api.md).
    public static func token(_ token: [UInt8]) -> LogValue { .text(hex(sha256(Array(hex(token).utf8)).prefix(4))) }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral value: Int) { self = .whole(value) }
}
