import CardRules

/// A phone's wall clock, for people.
struct LocalClock: Sendable {
    let zone: Zone

    /// `23:41:05`
    func time(_ instant: WallTime) -> String {
        let second = parts(instant).second
        return [second / 3600, second % 3600 / 60, second % 60].map(two).joined(separator: ":")
    }

    /// `2015-12-23` (Gregorian).
    func day(_ instant: WallTime) -> String {
        // Days since 1 March of the year 0; a year of this count ends with February, so leap days come last.
        let days = parts(instant).day + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let monthOfYear = month < 10 ? month + 3 : month - 9
        let year = era * 400 + yearOfEra + (monthOfYear <= 2 ? 1 : 0)
        return "\(year)-\(two(monthOfYear))-\(two(day))"
    }

    /// Days since 1 January 1970 on this clock, and seconds into the day.
    private func parts(_ instant: WallTime) -> (day: Int64, second: Int64) {
        let local = zone.localSeconds(at: instant)
        let second = (local % 86_400 + 86_400) % 86_400
        return ((local - second) / 86_400, second)
    }

    private func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
