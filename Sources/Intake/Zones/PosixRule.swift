import CardRules

/// The closing rule of a zone file, such as `EST5EDT,M3.2.0,M11.1.0` (POSIX TZ, with RFC 8536's wider hours).
struct PosixRule {
    private let standardOffset: Int32
    private let summer: Summer?

    private struct Summer {
        let offset: Int32
        let begins: Day
        let ends: Day
    }

    /// The `week`th `weekday` of a month (week 5: the last one), and a wall time on it.
    fileprivate struct Day {
        let month: Int
        let week: Int
        let weekday: Int
        let seconds: Int
    }

    init(_ text: String) throws(TZifFault) {
        var rest = Substring(text)
        guard PosixRule.skipName(&rest), let standard = PosixRule.clock(&rest) else { throw .unknownRule(text) }
        // POSIX counts westward.
        standardOffset = Int32(-standard)
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard PosixRule.skipName(&rest) else { throw .unknownRule(text) }
        let offset = rest.first == "," ? standardOffset + 3600 : PosixRule.clock(&rest).map { Int32(-$0) }
        guard let offset, let begins = PosixRule.day(&rest), let ends = PosixRule.day(&rest), rest.isEmpty else {
            throw .unknownRule(text)
        }
        summer = Summer(offset: offset, begins: begins, ends: ends)
    }

    /// The transitions later than `last`, to the end of `throughYear`.
    func transitions(after last: Int64, throughYear: Int) -> [Zone.Transition] {
        guard let summer else { return [] }
        let firstYear = last < 0 ? 1970 : 1970 + Int(last / 31_556_952) - 1
        guard firstYear <= throughYear else { return [] }
        return (firstYear...throughYear).flatMap { year in
            [
                Zone.Transition(
                    at: summer.begins.localSeconds(year: year) - Int64(standardOffset), offsetSeconds: summer.offset),
                Zone.Transition(
                    at: summer.ends.localSeconds(year: year) - Int64(summer.offset), offsetSeconds: standardOffset),
            ]
        }
        .filter { $0.at > last }
        .sorted { $0.at < $1.at }
    }

    // MARK: - Text

    /// `EST`, or `<+0330>`.
    private static func skipName(_ rest: inout Substring) -> Bool {
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest[name.endIndex...]
        return name.count >= 3
    }

    /// `[+-]h[h[h]][:mm[:ss]]` as seconds, within a week.
    private static func clock(_ rest: inout Substring) -> Int? {
        var sign = 1
        if rest.first == "+" || rest.first == "-" {
            if rest.first == "-" { sign = -1 }
            rest = rest.dropFirst()
        }
        guard let hours = number(&rest, most: 167) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] where rest.first == ":" {
            rest = rest.dropFirst()
            guard let part = number(&rest, most: 59) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// `,Mm.w.d[/time]`
    private static func day(_ rest: inout Substring) -> Day? {
        guard rest.hasPrefix(",M") else { return nil }
        rest = rest.dropFirst(2)
        guard let month = number(&rest, most: 12), month >= 1, rest.first == "." else { return nil }
        rest = rest.dropFirst()
        guard let week = number(&rest, most: 5), week >= 1, rest.first == "." else { return nil }
        rest = rest.dropFirst()
        guard let weekday = number(&rest, most: 6) else { return nil }
        var seconds = 7200
        if rest.first == "/" {
            rest = rest.dropFirst()
            guard let time = clock(&rest) else { return nil }
            seconds = time
        }
        return Day(month: month, week: week, weekday: weekday, seconds: seconds)
    }

    private static func number(_ rest: inout Substring, most: Int) -> Int? {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard (1...3).contains(digits.count), let value = Int(digits), value <= most else { return nil }
        rest = rest[digits.endIndex...]
        return value
    }
}

extension PosixRule.Day {
    fileprivate func localSeconds(year: Int) -> Int64 {
        let first = daysFromCivil(year: year, month: month, day: 1)
        // 1 January 1970 was a Thursday.
        let firstWeekday = ((first + 4) % 7 + 7) % 7
        var day = 1 + (weekday - firstWeekday + 7) % 7 + 7 * (week - 1)
        let next =
            month == 12
            ? daysFromCivil(year: year + 1, month: 1, day: 1) : daysFromCivil(year: year, month: month + 1, day: 1)
        if day > next - first { day -= 7 }
        return Int64(first + day - 1) * 86_400 + Int64(seconds)
    }
}

/// Days from 1 January 1970 in the Gregorian calendar.
private func daysFromCivil(year: Int, month: Int, day: Int) -> Int {
    // Years begin in March, so that the leap day is their last.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
