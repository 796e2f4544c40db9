import CardRules
import Intake
import Testing

@testable import Simulation
@testable import lanekeeper

/// `lanekeeper simulate`.
@Suite struct SimulateTests {
    @Test func `every option is read`() throws {
        let options = try SimulateOptions([
            "--seeds", "3-9", "--phones", "5", "--hours", "8", "--faults", "lane-deaths,outage", "--jobs", "2",
            "--json",
        ])
        #expect(options.seeds == 3...9 && options.phones == 5 && options.hours == 8 && options.jobs == 2)
        #expect(options.faults == [.laneDeaths, .outage] && options.isJSON)
        #expect(try SimulateOptions(["--seeds", "4"]).seeds == 4...4)
        #expect(try SimulateOptions(["--faults", "none"]).faults == [])
        #expect(try SimulateOptions([]).faults == nil)
    }

    @Test(
        arguments: [
            (["--seeds", "9-3"], "--seeds"), (["--seeds", "1-2-3"], "--seeds"), (["--seeds", "-1"], "--seeds"),
            (["--phones", "0"], "--phones"), (["--hours", "1"], "--hours"),
            (["--faults", "lane-deaths,"], "no kind of fault"), (["--faults", "rain"], "rain"), (["--fast"], "--fast"),
        ])
    func `what it does not take is named`(words: [String], named: String) {
        do throws(WrongUse) {
            _ = try SimulateOptions(words)
            Issue.record("taken: \(words)")
        } catch { #expect(error.text.contains(named), "\(error.text)") }
    }

    @Test func `each kind of fault has a name of its own, and the help lists it`() {
        #expect(Set(FaultKind.allCases.map(\.rawValue)).count == FaultKind.allCases.count)
        for kind in FaultKind.allCases { #expect(SimulateOptions.usage.contains("  \(kind.rawValue)")) }
    }

    @Test func `a day without a violation is a line of JSON, and the command that repeats it names its faults`() throws
    {
        let options = try SimulateOptions(["--phones", "2", "--hours", "2", "--faults", "lost-answers"])
        let result = World(options.world(of: 3)) { ZoneDirectory().zone(named: $0) }.run()
        let line = try JSONDocument(Array(SimulateText.json(result).utf8)).root
        #expect(line["seed"]?.wholeNumber == 3)
        #expect(line["hash"]?.text == String(result.hash, radix: 16))
        #expect(line["jobs"]?.wholeNumber == result.jobs)
        guard case .array(let violations)? = line["violations"] else { throw WrongUse("no violations: \(line)") }
        #expect(violations.isEmpty)
        #expect(
            options.command(for: 3, faults: result.faults)
                == "lanekeeper simulate --seeds 3 --phones 2 --hours 2 --faults lost-answers")
    }

    @Test func `a violation names invariant, time, device and what was wrong; the totals count it`() throws {
        var judge = Judge()
        judge.add(.i2, 1, "too many", at: World.start.advanced(bySeconds: 5))
        judge.add(.i3, nil, "a background push", at: World.start.advanced(bySeconds: 6))
        let result = WorldResult(
            seed: 8, hash: 0xabc, jobs: 4, phoneNights: 2, faults: [.outage], judged: judge.report(at: World.start),
            tally: WorldTally(), devices: [DeviceID(unchecked: "d0"), DeviceID(unchecked: "d1")], stories: [[], []])
        let line = try JSONDocument(Array(SimulateText.json(result).utf8)).root
        guard case .array(let violations)? = line["violations"], violations.count == 2 else {
            throw WrongUse("no violations: \(line)")
        }
        #expect(violations[0]["invariant"]?.text == "I2" && violations[0]["device"]?.text == "d1")
        #expect(violations[0]["at"]?.wholeNumber.map(Int64.init) == World.start.unixSeconds + 5)
        #expect(violations[0]["detail"]?.text == "too many" && violations[1]["device"] == .null)
        #expect(SimulateText.line(result).contains("2 VIOLATIONS"))
        var totals = SimulateRun.Totals()
        totals.add(result)
        #expect(totals.failed == 1 && totals.violations == 2)
    }
}
