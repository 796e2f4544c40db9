/// The form of a time in `Date` (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// - Parameter unixSeconds: before the year 10000; below 0 counts as 0.
    static func text(unixSeconds: Int64) -> String {
        let seconds = max(0, unixSeconds)
        let days = seconds / 86_400
        let (year, month, day) = civil(days: days)
        let clock = seconds % 86_400
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map(twoDigits).joined(separator: ":")
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
        let name = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ][month - 1]
        return "\(weekday), \(twoDigits(day)) \(name) \(year) \(time) GMT"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The Gregorian date so many days after 1970-01-01, counted in eras of 400 years that begin in March.
    private static func civil(days: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = days + 719_468  // from 0000-03-01
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, Int(month), dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
