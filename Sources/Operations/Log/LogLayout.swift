internal import CardRules
internal import PushWire

/// Lays records out as lines. Whatever stands in a value, a record is one line.
enum LogLayout: Hashable, Sendable {
    case json, text

    /// UTF-8, with the end of the line.
    func line(_ record: LogRecord) -> [UInt8] {
        switch self {
        case .json: json(record)
        case .text: text(record)
        }
    }

    private func json(_ record: LogRecord) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"time\":")
        writer.string(isoTime(record.at))
        writer.raw(",\"level\":")
        writer.string(record.level.rawValue)
        writer.raw(",\"message\":")
        writer.string(record.message)
        for field in record.fields {
            writer.raw(",")
            writer.string(field.key.rawValue)
            writer.raw(":")
            switch field.value {
            case .text(let text): writer.string(text)
            case .whole(let whole): writer.integer(Int64(whole))
            case .number(let number): writer.number(number)
            case .flag(let flag): writer.bool(flag)
            case .texts(let texts): writer.value(.array(texts.map { .string($0) }))
            }
        }
        writer.raw("}\n")
        return writer.bytes
    }

    private func text(_ record: LogRecord) -> [UInt8] {
        var line = "\(isoTime(record.at)) \(word(record.level)) \(tame(record.message))"
        for field in record.fields {
            line += "  \(field.key.rawValue)="
            switch field.value {
            case .text(let text): line += quoted(text)
            case .whole(let whole): line += "\(whole)"
            case .number(let number): line += plain(number)
            case .flag(let flag): line += "\(flag)"
            case .texts(let texts): line += quoted(texts.joined(separator: ","))
            }
        }
        return Array(line.utf8) + [0x0A]
    }

    private func word(_ level: LogLevel) -> String {
        switch level {
        case .error: "ERROR  "
        case .warning: "WARNING"
        case .info: "INFO   "
        case .debug: "DEBUG  "
        }
    }

    private func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0 == "\"" || $0 == "=" || $0.value <= 0x20 }
        return isPlain
            ? tame(text)
            : "\"\(tame(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")))\""
    }

    /// What could move a terminal's cursor, or turn its direction, is shown as `?`.
    private func tame(_ text: String) -> String {
        var tame = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: tame.append("?")
            default: tame.append(scalar)
            }
        }
        return String(tame)
    }
}

/// `2026-11-30T12:31:44.123Z` (RFC 3339).
func isoTime(_ time: WallTime) -> String {
    let seconds = time.unixSeconds
    let (days, second) = (seconds.flooredDivision(by: 86_400), seconds - seconds.flooredDivision(by: 86_400) * 86_400)
    // Days since 0000-03-01, so that a leap day is the last of its year; 400 years are 146,097 days.
    let shifted = days + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let milliseconds = time.milliseconds - seconds * 1000
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(second / 3600, 2)):"
        + "\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2)).\(digits(milliseconds, 3))Z"
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
