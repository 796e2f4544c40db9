internal import CardRules
internal import Foundation

/// Counts nights from roll to roll of local time in a zone (rules.md, section 0: night). An unknown zone counts as UTC.
func nightNumber(at time: WallTime, zone: String, rollsAtMinute: Int) -> Int {
    Int(((localSeconds(at: time, zone: zone) - Double(rollsAtMinute) * 60) / 86_400).rounded(.down))
}

/// Minutes since midnight, of local time in a zone.
func localMinute(at time: WallTime, zone: String) -> Int {
    let days = localSeconds(at: time, zone: zone) / 86_400
    return Int((days - days.rounded(.down)) * 1440)
}

private func localSeconds(at time: WallTime, zone: String) -> Double {
    let seconds = Double(time.milliseconds) / 1000
    let offset = TimeZone(identifier: zone)?.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)) ?? 0
    return seconds + Double(offset)
}
