internal import CardRules

/// The server's text of a time, in its ISO style: `2026-11-14 23:15:00.25+00`, `2026-11-14 23:15:00` (UTC), `2026-11-14`.
enum ServerTimestamp {
    /// - Returns: `nil` for any other text; `infinity` and years before Christ among them. To the millisecond, rounded
    ///   down.
    static func read(_ text: String) -> WallTime? {
        var reader = Reader(text: Array(text.utf8))
        guard let year = reader.number(digits: 4...6), reader.take("-"), let month = reader.number(digits: 2...2),
            reader.take("-"), let day = reader.number(digits: 2...2), (1...12).contains(month),
            (1...daysOf(month, year)).contains(day)
        else { return nil }
        var milliseconds = Int64(days(year, month, day)) * 86_400_000
        guard !reader.isAtEnd else { return WallTime(milliseconds: milliseconds) }
        guard reader.take(" ") || reader.take("T"), let hour = reader.number(digits: 2...2), reader.take(":"),
            let minute = reader.number(digits: 2...2), reader.take(":"), let second = reader.number(digits: 2...2),
            hour <= 23, minute <= 59, second <= 59
        else { return nil }
        milliseconds += Int64(hour * 3600 + minute * 60 + second) * 1000
        if reader.take(".") {
            guard let fraction = reader.milliseconds() else { return nil }
            milliseconds += Int64(fraction)
        }
        guard let offset = reader.offsetSeconds(), reader.isAtEnd else { return nil }
        return WallTime(milliseconds: milliseconds - Int64(offset) * 1000)
    }

    private static func daysOf(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 in the Gregorian calendar, whose year here begins in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let ofEra = year % 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private struct Reader {
        let text: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == text.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(truncatingIfNeeded: character.value) else {
                return false
            }
            position += 1
            return true
        }

        mutating func number(digits: ClosedRange<Int>) -> Int? {
            var value = 0
            var count = 0
            while count < digits.upperBound, let digit = digit() {
                value = value * 10 + digit
                count += 1
            }
            return digits.contains(count) ? value : nil
        }

        /// 1 to 9 digits behind the point; those behind the third are dropped.
        mutating func milliseconds() -> Int? {
            var value = 0
            var count = 0
            while let digit = digit() {
                if count < 3 { value = value * 10 + digit }
                count += 1
            }
            guard (1...9).contains(count) else { return nil }
            for _ in count..<max(count, 3) { value *= 10 }
            return value
        }

        /// `Z`, `+00`, `-03:30`, `+05:30:15`; nothing is UTC.
        mutating func offsetSeconds() -> Int? {
            if isAtEnd || take("Z") { return 0 }
            let sign = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(digits: 2...2), hours <= 15 else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where take(":") {
                guard let part = number(digits: 2...2), part <= 59 else { return nil }
                seconds += part * unit
            }
            return sign * seconds
        }

        private mutating func digit() -> Int? {
            guard position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) else {
                return nil
            }
            position += 1
            return Int(text[position - 1] - UInt8(ascii: "0"))
        }
    }
}
