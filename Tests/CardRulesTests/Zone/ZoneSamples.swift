import CardRules

/// Zones with their changes of 2026, as tzdata has them, so that the rules are tested without system data.
enum ZoneSample {
    /// Clocks go forward on 8 March at 07:00 UTC and back on 1 November at 06:00 UTC.
    static let newYork = zone("America/New_York", -5 * 3600, [("2026-03-08T07:00", -4), ("2026-11-01T06:00", -5)])
    static let losAngeles = zone(
        "America/Los_Angeles", -8 * 3600, [("2026-03-08T10:00", -7), ("2026-11-01T09:00", -8)])
    /// Forward on 29 March, back on 25 October, at 01:00 UTC.
    static let berlin = zone("Europe/Berlin", 3600, [("2026-03-29T01:00", 2), ("2026-10-25T01:00", 1)])
    /// By half an hour: back on 5 April at 02:00 on the wall, forward on 4 October at 02:00.
    static let lordHowe = zone("Australia/Lord_Howe", 39_600, [("2026-04-04T15:00", 10.5), ("2026-10-03T15:30", 11)])
    static let tokyo = Zone(name: "Asia/Tokyo", fixedOffsetSeconds: 9 * 3600)
    static let honolulu = Zone(name: "Pacific/Honolulu", fixedOffsetSeconds: -10 * 3600)
    static let kiritimati = Zone(name: "Pacific/Kiritimati", fixedOffsetSeconds: 14 * 3600)

    static let all = [newYork, losAngeles, berlin, lordHowe, tokyo, honolulu, kiritimati]

    private static func zone(_ name: String, _ before: Int32, _ changes: [(String, Double)]) -> Zone {
        let transitions = changes.map {
            Zone.Transition(at: utc($0.0).unixSeconds, offsetSeconds: Int32($0.1 * 3600))
        }
        return Zone(name: name, offsetBefore: before, transitions: transitions) ?? .utc
    }
}

/// An instant of 2026 and the years around it, from `2026-01-10T22:30` in UTC.
func utc(_ text: String) -> WallTime {
    let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
    guard numbers.count >= 5 else { return .distantPast }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    // Days of the civil calendar since 1 January 1970, with years that begin in March.
    let shifted = month <= 2 ? year - 1 : year
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = shifted / 400 * 146_097 + dayOfEra - 719_468
    return WallTime(seconds: days * 86_400 + numbers[3] * 3600 + numbers[4] * 60)
}
