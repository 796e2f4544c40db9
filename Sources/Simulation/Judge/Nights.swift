internal import CardRules
internal import Foundation

/// Counts nights from roll to roll of local time in a zone (rules.md, section 0: night). An unknown zone counts as UTC.
func nightNumber(at time: WallTime, zone: String, rollsAtMinute: Int) -> Int {
    let seconds = Double(time.milliseconds) / 1000
    let offset = TimeZone(identifier: zone)?.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)) ?? 0
    return Int(((seconds + Double(offset) - Double(rollsAtMinute) * 60) / 86_400).rounded(.down))
}
