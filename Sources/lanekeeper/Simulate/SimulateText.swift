import CardRules
import PushWire
import Simulation

/// What days came to, for people and for programs.
enum SimulateText {
    static func line(_ result: WorldResult) -> String {
        let tally = result.tally
        let verdict = result.judged.violationsInAll == 0 ? "held" : "\(result.judged.violationsInAll) VIOLATIONS"
        return "seed \(result.seed): \(verdict), hash \(String(result.hash, radix: 16)), \(result.jobs) jobs, "
            + "\(result.judged.tally.startedByPush) starts, \(result.judged.tally.updates) updates, "
            + "\(tally.laneRestarts) lanes restarted, \(tally.processDeaths) processes, \(tally.fenced) late effects refused"
    }

    static func line(_ totals: SimulateRun.Totals) -> String {
        "\(totals.seeds) seeds, \(totals.failed) failed, \(totals.violations) violations, "
            + "\(Int(totals.phoneNights.rounded())) phone nights, "
            + "\(Int(totals.phoneNightsPerCPUHour.rounded())) of them in a CPU hour"
    }

    static func json(_ result: WorldResult) -> String {
        text(
            .object([
                "seed": .integer(Int64(bitPattern: result.seed)),
                "hash": .string(String(result.hash, radix: 16)),
                "jobs": .integer(Int64(result.jobs)),
                "phoneNights": .number((result.phoneNights * 100).rounded() / 100),
                "violations": .array(
                    result.violations.map { violation in
                        .object([
                            "invariant": .string(violation.invariant.rawValue),
                            "at": .integer(violation.at.unixSeconds),
                            "device": violation.phone.flatMap {
                                result.devices.indices.contains($0) ? result.devices[$0] : nil
                            }
                            .map { .string($0.text) } ?? .null,
                            "detail": .string(violation.detail),
                        ])
                    }),
            ]))
    }

    static func json(_ totals: SimulateRun.Totals) -> String {
        text(
            .object([
                "seeds": .integer(Int64(totals.seeds)), "failed": .integer(Int64(totals.failed)),
                "violations": .integer(Int64(totals.violations)), "jobs": .integer(Int64(totals.jobs)),
                "phoneNights": .number((totals.phoneNights * 100).rounded() / 100),
                "cpuSeconds": .number((totals.cpuSeconds * 100).rounded() / 100),
                "phoneNightsPerCPUHour": .number(totals.phoneNightsPerCPUHour.rounded()),
            ]))
    }

    private static func text(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
