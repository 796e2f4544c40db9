import CardRules

extension JSONValue {
    /// Any number.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// A time as Unix seconds, fractions allowed. The year 9999 is the last: milliseconds given for seconds are noticed.
    var wallTime: WallTime? {
        switch self {
        case .integer(let seconds) where seconds >= 0 && Double(seconds) <= lastSecond: WallTime(seconds: seconds)
        case .number(let seconds) where seconds >= 0 && seconds <= lastSecond: WallTime(fractionalSeconds: seconds)
        default: nil
        }
    }
}

private let lastSecond = 253_402_300_799.0

/// What `wallTime` reads, for people.
let unixSecondsExpected = "a number of Unix seconds"

/// What an id is, for people.
let identifierExpected = "an id, 1 to 128 of A-Z a-z 0-9 . _ : -"

/// The two gateways, for people.
let gatewayExpected = "\"production\" or \"sandbox\""
