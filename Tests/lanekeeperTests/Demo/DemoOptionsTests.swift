import Testing

@testable import lanekeeper

@Suite struct DemoOptionsTests {
    private func complaint(_ arguments: [String]) -> String? {
        do throws(WrongUse) {
            _ = try DemoOptions(arguments)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `demo: without options there are 200 phones, seed 1, speed 60, and keys are read`() throws {
        let options = try DemoOptions([])
        #expect(options.phones == 200 && options.seed == 1 && options.speed == .times(60))
        #expect(!options.isHeadless && options.slateFile == nil && options.reportFile == nil)
    }

    @Test func `demo: every option is taken, and of one given twice the last`() throws {
        let options = try DemoOptions([
            "--slate", "night.ndjson", "--phones", "5", "--phones", "100000", "--speed", "max", "--seed",
            "18446744073709551615", "--headless", "--report", "-",
        ])
        #expect(options.slateFile == "night.ndjson" && options.reportFile == "-")
        #expect(options.phones == 100_000 && options.speed == .max && options.seed == .max && options.isHeadless)
        #expect(try DemoOptions(["--speed", "1"]).speed == .times(1))
        #expect(try DemoOptions(["--phones", "1", "--seed", "0"]).phones == 1)
    }

    @Test(arguments: ["0", "-1", "100001", "1.5", "many", "5 ", "99999999999999999999"])
    func `demo: --phones names its range for anything else`(value: String) {
        #expect(
            complaint(["--phones", value]) == "--phones takes a whole number from 1 to 100000, not \(value)")
    }

    @Test(arguments: ["-1", "x", "1.0", "18446744073709551616"])
    func `demo: --seed wants a whole number`(value: String) {
        #expect(complaint(["--seed", value]) == "--seed takes a whole number from 0, not \(value)")
    }

    @Test(arguments: ["0", "2", "60x", "MAX", "-60", "1.0"])
    func `demo: --speed names its three values`(value: String) {
        #expect(complaint(["--speed", value]) == "--speed takes 1, 60 or max, not \(value)")
    }

    @Test(arguments: ["--slate", "--phones", "--speed", "--seed", "--report"])
    func `demo: an option at the end, before another one, or with an empty value needs a value`(flag: String) {
        for rest in [[], ["--headless"], [""]] { #expect(complaint([flag] + rest) == "\(flag) needs a value") }
    }

    @Test(arguments: ["--phone", "-phones", "night.ndjson", "--phones=5", "--Headless", ""])
    func `demo: what is no option is named, with where to look`(word: String) {
        #expect(complaint(["--headless", word]) == "\(word) is no option of demo; see lanekeeper demo --help")
    }

    @Test func `demo: the help names every option`() {
        for flag in ["--slate", "--phones", "--speed", "--seed", "--headless", "--report"] {
            #expect(DemoOptions.usage.contains(flag))
        }
    }
}
