import CardRules

/// A replay for programs: the object of `--json`. Times are Unix seconds, points have two decimals at most, what does
/// not apply is null.
struct ReplayJSON {
    /// - Parameter runs: a tuning's name and what came of it for each phone; one, or two to be compared.
    static func value(
        slate: ReplaySlate, runs: [(tuning: String, nights: [ReplayNight])], comparisons: [ReplayComparison]
    ) -> JSONValue {
        .object([
            "slate": .object([
                "file": .string(slate.file), "games": whole(slate.games), "lines": whole(slate.lines),
                "rejected": whole(slate.rejected), "from": time(slate.from), "to": time(slate.to),
            ]),
            "runs": .array(
                runs.map { run in
                    .object(["tuning": .string(run.tuning), "phones": .array(run.nights.map(value))])
                }),
            "differences": .array(
                comparisons.map { comparison in
                    .object([
                        "name": .string(comparison.first.phone.name), "same": whole(comparison.sameFronts),
                        "first": .array(comparison.onlyFirst.map(value)),
                        "second": .array(comparison.onlySecond.map(value)),
                    ])
                }),
        ])
    }

    private static func value(_ night: ReplayNight) -> JSONValue {
        .object([
            "name": .string(night.phone.name), "zone": .string(night.phone.zone.name),
            "steps": .array(night.steps.map(value)), "totals": totals(night.tally),
            "forecast": forecast(night.tally.forecast),
        ])
    }

    private static func value(_ step: ReplayStep) -> JSONValue {
        .object([
            "at": time(step.at), "kind": .string(step.kind.rawValue),
            "rule": step.rule.map { .string($0.rawValue) } ?? .null, "detail": .string(step.detail),
            "from": (step.change?.from).map(value) ?? .null, "to": (step.change?.to).map(value) ?? .null,
            "push": step.push.map(value) ?? .null,
        ])
    }

    private static func value(_ score: FrontScore) -> JSONValue {
        .object([
            "game": .string(score.game.text), "worth": points(score.worth), "taste": points(score.taste),
            "lift": points(score.lift), "effective": points(score.effective),
        ])
    }

    private static func value(_ push: ReplayPush) -> JSONValue {
        .object([
            "priority": whole(push.priority.rawValue), "bytes": whole(push.byteCount),
            "games": .array(push.games.map { .string($0.text) }),
        ])
    }

    private static func totals(_ tally: ReplayTally) -> JSONValue {
        .object([
            "frontChanges": whole(tally.frontChangeCount), "frontChangesByRule": rules(tally.frontChanges),
            "firstFronts": whole(tally.firstFronts), "starts": whole(tally.starts),
            "urgentUpdates": whole(tally.urgentUpdates), "conservingUpdates": whole(tally.conservingUpdates),
            "ends": whole(tally.ends), "withheld": rules(tally.withheld), "pushes": whole(tally.pushes),
            "bytes": whole(tally.bytes), "largestBytes": whole(tally.largestBytes),
            "cardStands": .bool(tally.isCardStanding),
        ])
    }

    private static func forecast(_ forecast: ReplayTally.Forecast) -> JSONValue {
        .object([
            "starts": whole(forecast.starts), "startsUnacknowledged": whole(forecast.startsUnacknowledged),
            "startsAcknowledged": whole(forecast.startsAcknowledged),
            "startsHardCap": whole(forecast.startsHardCap), "urgentWorstHour": whole(forecast.urgent.count),
            "urgentWorstHourFrom": time(forecast.urgent.from), "urgentPerHour": whole(forecast.urgentAllowance),
            "urgentHeldBack": whole(forecast.conserved), "pushesWorstHour": whole(forecast.pushes.count),
            "pushesWorstHourFrom": time(forecast.pushes.from),
        ])
    }

    // MARK: - Values

    private static func rules(_ counts: [Rule: Int]) -> JSONValue {
        .object(Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, whole($0.value)) }))
    }

    private static func whole(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    private static func points(_ points: Double) -> JSONValue { .number((points * 100).rounded() / 100) }

    private static func time(_ instant: WallTime?) -> JSONValue { instant.map { .integer($0.unixSeconds) } ?? .null }
}
