import CardRules

/// Lines that come at once.
struct SlateTick: Sendable {
    let at: WallTime
    let lines: [SlateLine]

    /// The ticks of a slate, in order of time: lines of one time that follow each other are one.
    static func ticks(of lines: [SlateLine]) -> [SlateTick] {
        var ticks: [SlateTick] = []
        var gathered: [SlateLine] = []
        for line in lines {
            if let first = gathered.first, first.at != line.at {
                ticks.append(SlateTick(at: first.at, lines: gathered))
                gathered = []
            }
            gathered.append(line)
        }
        if let first = gathered.first { ticks.append(SlateTick(at: first.at, lines: gathered)) }
        return ticks.sorted { $0.at < $1.at }
    }
}
