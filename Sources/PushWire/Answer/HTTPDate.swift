/// The date of an HTTP header (RFC 9110, 5.6.7), in the one form that senders use: `Sun, 06 Nov 1994 08:49:37 GMT`.
public enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970-01-01 was a Thursday

    /// - Returns: Unix seconds; `nil` for anything else, dates before 1970 included. The day's name is not looked at.
    public static func unixSeconds(_ text: some StringProtocol) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", let day = number(parts[1], 2), let year = number(parts[3], 4),
            let month = months.firstIndex(where: { $0 == parts[2] }), (1...31).contains(day), year >= 1970
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 2), let minute = number(clock[1], 2),
            let second = number(clock[2], 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return daysSince1970(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// - Parameter seconds: Unix seconds, from 1970 on.
    public static func text(unixSeconds seconds: Int64) -> String {
        let days = seconds / 86_400
        var year: Int64 = 1970 + days / 366
        while daysSince1970(year + 1, 1, 1) <= days { year += 1 }
        var month = 1
        while month < 12, daysSince1970(year, month + 1, 1) <= days { month += 1 }
        let day = days - daysSince1970(year, month, 1) + 1
        let clock = seconds % 86_400
        return "\(Self.days[Int(days % 7)]), \(two(day)) \(months[month - 1]) \(year) "
            + "\(two(clock / 3600)):\(two(clock / 60 % 60)):\(two(clock % 60)) GMT"
    }

    /// Of the Gregorian calendar; `month` 1...12.
    private static func daysSince1970(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year  // years that begin in March have the leap day at their end
        let ofYear = (153 * Int64(month <= 2 ? month + 9 : month - 3) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }

    private static func number(_ text: some StringProtocol, _ digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
