import CardRules

/// Times of the API for people: in UTC, to the second.
enum UTCText {
    private static let clock = LocalClock(zone: .utc)

    /// `2026-07-18 20:15:04`
    static func full(_ seconds: Double) -> String {
        guard abs(seconds) < 253_402_300_800 else { return "\(seconds)" }
        let time = WallTime(seconds: Int64(seconds.rounded(.down)))
        return "\(clock.day(time)) \(clock.time(time))"
    }

    /// `20:15:04`
    static func time(_ seconds: Double) -> String {
        guard abs(seconds) < 253_402_300_800 else { return "\(seconds)" }
        return clock.time(WallTime(seconds: Int64(seconds.rounded(.down))))
    }
}

/// Columns: each as wide as its widest cell, two blanks between, nothing behind the last.
func columns(_ rows: [[String]], indent: String = "") -> [String] {
    var widths: [Int] = []
    for row in rows {
        for (place, cell) in row.enumerated() {
            if place == widths.count { widths.append(0) }
            widths[place] = max(widths[place], cell.count)
        }
    }
    return rows.map { row in
        var line = indent
        for (place, cell) in row.enumerated() {
            line += cell
            if row[(place + 1)...].contains(where: { !$0.isEmpty }) {
                line += String(repeating: " ", count: widths[place] - cell.count + 2)
            }
        }
        return line
    }
}
