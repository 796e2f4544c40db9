import CardRules

/// A replay for people: a line a step, then totals and the forecast.
struct ReplayText {
    let names: GameNames

    /// All of one phone's night.
    func lines(of night: ReplayNight) -> [String] {
        let clock = LocalClock(zone: night.phone.zone)
        var lines = ["", heading(night.phone)]
        var day: String?
        for step in night.steps {
            let today = clock.day(step.at)
            if day != today { lines.append("  \(today)") }
            day = today
            lines.append("  \(line(of: step, clock))")
        }
        if night.steps.isEmpty { lines.append("  nothing happened") }
        return lines + totals(night.tally) + forecast(night.tally.forecast, clock)
    }

    private func heading(_ phone: ReplayPhone) -> String {
        "\(phone.name), times in \(phone.zone.name)\(phone.isSpoilerFree ? ", spoiler-free" : "")"
    }

    // MARK: - Steps

    /// `20:14:03  front     T3   ...`
    func line(of step: ReplayStep, _ clock: LocalClock) -> String {
        let rule = step.rule?.rawValue ?? ""
        let words = [step.change.map(text), step.push.map(text), step.detail.isEmpty ? nil : step.detail]
        return "\(clock.time(step.at))  \(padded(step.kind.rawValue, 8))  \(padded(rule, 3))  "
            + words.compactMap { $0 }.joined(separator: ": ")
    }

    private func text(_ change: FrontChange) -> String {
        let to = "\(names[change.to.game]) \(score(change.to))"
        guard let from = change.from else { return to }
        return "\(names[from.game]) \(score(from)) -> \(to)"
    }

    /// `71.3 (worth 51.3, lift 20.0)`
    private func score(_ score: FrontScore) -> String {
        var parts = ["worth \(points(score.worth))"]
        if score.taste != 0 { parts.append("taste \(points(score.taste))") }
        if score.lift != 0 { parts.append("lift \(points(score.lift))") }
        return "\(points(score.effective)) (\(parts.joined(separator: ", ")))"
    }

    private func text(_ push: ReplayPush) -> String {
        "priority \(push.priority.rawValue), \(push.byteCount) bytes"
    }

    // MARK: - Sums

    private func totals(_ tally: ReplayTally) -> [String] {
        let updates = tally.urgentUpdates + tally.conservingUpdates
        return [
            "totals",
            "  front        \(counted(tally.frontChangeCount, "change"))\(rules(tally.frontChanges)); "
                + counted(tally.firstFronts, "first front"),
            "  pushes       \(tally.pushes): \(counted(tally.starts, "start")), \(counted(updates, "update")) "
                + "(\(tally.urgentUpdates) of priority 10), \(counted(tally.ends, "end"))",
            "  bytes        \(tally.bytes), at most \(tally.largestBytes) in one push",
            "  withheld     \(counted(tally.withheldCount, "start"))\(rules(tally.withheld))",
        ] + (tally.isCardStanding ? ["  card         still stands"] : [])
    }

    private func forecast(_ forecast: ReplayTally.Forecast, _ clock: LocalClock) -> [String] {
        func worst(_ hour: BusiestHour) -> String {
            hour.from.map { ", from \(clock.time($0))" } ?? ""
        }
        let conserved = forecast.conserved == 0 ? "" : "; \(forecast.conserved) more went with priority 5"
        return [
            "forecast",
            "  starts       \(forecast.starts) of \(forecast.startsAcknowledged) a night once one is acknowledged "
                + "(\(forecast.startsUnacknowledged) before); \(forecast.starts) of \(forecast.startsHardCap) of any kind",
            "  priority 10  at worst \(forecast.urgent.count) of \(forecast.urgentAllowance) updates an hour"
                + worst(forecast.urgent) + conserved,
            "  pushes       at worst \(forecast.pushes.count) an hour" + worst(forecast.pushes),
        ]
    }

    // MARK: - Two tunings

    func lines(of comparison: ReplayComparison, first: String, second: String) -> [String] {
        let (one, other) = (comparison.first.tally, comparison.second.tally)
        func row(_ name: String, _ value: (ReplayTally) -> String) -> (String, String, String) {
            (name, value(one), value(other))
        }
        func of(_ count: Int, _ cap: Int) -> String { "\(count) of \(cap)" }
        let rows: [(String, String, String)] = [
            ("", first, second),
            row("front changes") { "\($0.frontChangeCount)" },
            row("starts") { "\($0.starts)" },
            row("starts withheld") { "\($0.withheldCount)" },
            row("updates, priority 10") { "\($0.urgentUpdates)" },
            row("updates, priority 5") { "\($0.conservingUpdates)" },
            row("ends") { "\($0.ends)" },
            row("pushes") { "\($0.pushes)" },
            row("bytes") { "\($0.bytes)" },
            row("starts a night") { of($0.forecast.starts, $0.forecast.startsAcknowledged) },
            row("starts of any kind") { of($0.forecast.starts, $0.forecast.startsHardCap) },
            row("priority 10, worst hour") { of($0.forecast.urgent.count, $0.forecast.urgentAllowance) },
            row("  held back to priority 5") { "\($0.forecast.conserved)" },
            row("pushes, worst hour") { "\($0.forecast.pushes.count)" },
        ]
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        let firstWidth = rows.map(\.1.count).max() ?? 0
        let secondWidth = (rows.map(\.2.count).max() ?? 0) + 2
        let table = rows.map { name, mine, theirs in
            "  \(padded(name, width))\(padded(mine, firstWidth, toRight: true))"
                + padded(theirs, secondWidth, toRight: true)
        }
        return ["", heading(comparison.first.phone)] + table + differences(comparison, first, second)
    }

    private func differences(_ comparison: ReplayComparison, _ first: String, _ second: String) -> [String] {
        let clock = LocalClock(zone: comparison.first.phone.zone)
        let all = comparison.differences
        guard !all.isEmpty else { return ["front changes: all \(comparison.sameFronts) are the same"] }
        var lines = ["front changes: \(comparison.sameFronts) the same; - only \(first), + only \(second)"]
        var day: String?
        for (which, step) in all {
            let today = clock.day(step.at)
            if day != today { lines.append("    \(today)") }
            day = today
            lines.append("  \(which == .first ? "-" : "+") \(line(of: step, clock))")
        }
        return lines
    }

    // MARK: - Words

    /// One decimal.
    private func points(_ points: Double) -> String { "\((points * 10).rounded() / 10)" }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private func rules(_ counts: [Rule: Int]) -> String {
        guard !counts.isEmpty else { return "" }
        let parts = Rule.allCases.compactMap { rule in counts[rule].map { "\(rule.rawValue) \($0)" } }
        return " (\(parts.joined(separator: ", ")))"
    }

    private func padded(_ text: String, _ width: Int, toRight: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return toRight ? space + text : text + space
    }
}
