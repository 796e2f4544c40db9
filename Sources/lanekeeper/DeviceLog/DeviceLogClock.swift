/// Lines a log's times up with the times of sends, which are the server's. A log may leave out the zone, the year or the
/// day: the day and year are the nearest to the sends, and the zone the one in which most sends find lines behind them.
struct DeviceLogClock: Equatable, Sendable {
    /// Taken for lines without a zone.
    let offsetSeconds: Int
    /// It was found from the sends, not assumed.
    let isFound: Bool
    private let near: Double

    /// The phone's clock may be this much behind the server's.
    static let earlySeconds = 5.0
    /// A line later than this after a start is not of this start.
    static let lateSeconds = 60.0

    /// - Parameters:
    ///   - sends: Unix seconds, rising; at least one.
    ///   - assumed: the offset of this machine, for a log that tells nothing.
    init?(_ entries: [DeviceLogEntry], sends: [Double], assumed: Int) {
        guard let first = sends.first, let last = sends.last else { return nil }
        let near = (first + last) / 2
        let times = entries.filter(\.event.isOfStart).compactMap(\.time).filter { $0.offsetSeconds == nil }
        var best = (score: 0, offset: assumed)
        // Every offset that any place on Earth has is a multiple of a quarter of an hour.
        let quarters = [assumed] + (-48...56).map { $0 * 900 }.sorted { abs($0 - assumed) < abs($1 - assumed) }
        for offset in quarters {
            let unix = times.compactMap { Self.unix($0, offset: offset, near: near) }
            let score = sends.count { send in
                unix.contains { $0 >= send - Self.earlySeconds && $0 < send - Self.earlySeconds + Self.lateSeconds }
            }
            if score > best.score { best = (score, offset) }
        }
        offsetSeconds = best.offset
        isFound = best.score > 0
        self.near = near
    }

    /// Unix seconds.
    func unix(_ time: DeviceLogTime) -> Double? { Self.unix(time, offset: offsetSeconds, near: near) }

    private static func unix(_ time: DeviceLogTime, offset: Int, near: Double) -> Double? {
        let shift = Double(time.offsetSeconds ?? offset)
        guard let day = time.day else {
            let sinceMidnight = time.secondOfDay - shift
            let days = ((near - sinceMidnight) / 86_400).rounded()
            return days * 86_400 + sinceMidnight
        }
        func inYear(_ year: Int) -> Double {
            Double(days(year, day.month, day.day)) * 86_400 + time.secondOfDay - shift
        }
        if let year = day.year { return inYear(year) }
        let year = 1970 + Int((near / (365.2425 * 86_400)).rounded(.down))
        return [year - 1, year, year + 1].map(inYear).min { abs($0 - near) < abs($1 - near) }
    }

    /// Days since 1 January 1970 (Gregorian).
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Which lines belong to which send: to the last one before them.
    /// - Parameter bundle: lines that name another app are left out.
    /// - Returns: a list a send, each in the order of the log; and how many lines belong to none.
    static func lineUp(
        _ entries: [DeviceLogEntry], sends: [Double], bundle: String?, assumed: Int
    ) -> (perSend: [[DeviceLogEntry]], others: Int, clock: DeviceLogClock?) {
        let own = entries.filter { $0.concerns(bundle) }
        var perSend = [[DeviceLogEntry]](repeating: [], count: sends.count)
        guard let clock = DeviceLogClock(own, sends: sends, assumed: assumed) else { return (perSend, own.count, nil) }
        var others = 0
        for entry in own {
            let time = entry.time.flatMap { clock.unix($0) }
            let place = time.flatMap { time in sends.lastIndex { $0 - earlySeconds <= time } }
            if let time, let place, time < sends[place] - earlySeconds + lateSeconds {
                perSend[place].append(entry)
            } else {
                others += 1
            }
        }
        return (perSend, others, clock)
    }
}
