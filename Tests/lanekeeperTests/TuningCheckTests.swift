import CardRules
import Testing

@testable import lanekeeper

/// What `lanekeeper tuning check` says of one file.
private func findings(_ source: String, tuning: Tuning = Tuning()) -> [TuningCheck.Finding] {
    var check = TuningCheck(tuning)
    check.read(source, file: "Rules.swift")
    return check.findings
}

private func checked(_ source: String) -> Int {
    var check = TuningCheck()
    check.read(source, file: "Rules.swift")
    return check.checked
}

/// `takeover.marginPoints 9`, or `?` for what cannot be read.
private func brief(_ source: String) -> [String] {
    findings(source).map { finding in
        let keys = finding.expected.map(\.key).joined(separator: "|")
        return "\(keys) \(finding.kind == .unreadable ? "?" : finding.found)"
    }
}

@Suite struct TuningCheckTests {
    @Test func `C6: every value under its own name, nested as the key says, is found and equal`() {
        for key in TuningKey.all {
            let parts = key.name.split(separator: ".").map(String.init)
            let value =
                switch key.value(in: Tuning()) {
                case .string(let text): "\"\(text)\""
                case .integer(let whole): String(whole)
                case .number(let number): String(number)
                default: ""
                }
            let types = parts.dropLast().map { "enum \($0.prefix(1).uppercased() + $0.dropFirst()) { " }.joined()
            let ends = String(repeating: " }", count: parts.count - 1)
            let right = "\(types)static let \(parts[parts.count - 1]) = \(value)\(ends)"
            #expect(findings(right) == [] && checked(right) == 1, "\(right)")
            let wrong = "\(types)static let \(parts[parts.count - 1]) = 7.75\(ends)"
            #expect(findings(wrong).map { $0.expected.map(\.key) } == [[key.name]], "\(wrong)")
            #expect(!key.rule.isEmpty, "\(key.name)")
        }
    }

    @Test(arguments: [
        "enum Takeover { static let marginPoints = 8 }",
        "static let takeoverMarginPoints: Double = 8.0",
        "let marginPoints: TimeInterval = 8",
        "let kMarginPoints = 8", "let MARGIN_POINTS = 8", "let takeover_margin_points = 0x8",
        "private static let defaultMarginPoints = Double(8)", "let appTakeoverMarginPoints = 1.6e1 / 2",
        "let settleSeconds: TimeInterval = 2 * 10", "let settleSeconds = .seconds(20)",
        "let settleSeconds: Duration = .milliseconds(20_000)", "let settle: Duration = .seconds(20)",
        "let staleSeconds = 10 * 60", "let stalePreSeconds = 3 * 3_600",
        "let minute = 60.0; struct Reissue { static let retrySeconds = minute }",
        "let hour = 60 * 60\nenum Life {\n    static let limitSeconds: Double =\n        8 * hour\n}",
        "let rollsAt = \"06:00\"", "let rollsAtMinute = 6 * 60",
        "let afterSeconds = 7 * 3600 + 45 * 60 // in enum Reissue? no: either of two, and it is one of them",
        "struct T { var marginPoints: Double { 8 } }", "struct T { var marginPoints: Double { return 8 } }",
        "struct T { var marginPoints: Double { get { 8 } } }", "enum Starts: Int { case hardCap = 10 }",
        "let marginPoints = (4 + 4)", "let marginPoints = -(-8)", "let a = 1, marginPoints = 8, b = 2",
        "let marginPoints = 17 / 2", "let `marginPoints` = 0b1000", "let marginPoints = 0x1p3",
    ])
    func `C6: the same value however written is the same`(source: String) {
        #expect(findings(source) == [] && checked(source) == 1)
    }

    @Test(arguments: [
        ("enum Takeover { static let marginPoints = 9 }", "takeover.marginPoints 9"),
        ("let takeoverMarginPoints: Double = 17 / 2", "takeover.marginPoints 8.5"),
        ("let marginPoints = -8", "takeover.marginPoints -8"),
        ("let settleSeconds: Duration = .seconds(21)", "takeover.settleSeconds 21 s"),
        ("let settle = Duration.minutes(1)", "takeover.settleSeconds 60 s"),
        ("let rollsAt = \"05:00\"", "night.rollsAt \"05:00\""),
        ("let staleSeconds = 1_200", "updates.staleSeconds 1200"),
        ("enum Boosts { static let overtime = 24 }", "takeover.boosts.overtime 24"),
        ("let boostsOvertime = 24", "takeover.boosts.overtime 24"),
        ("enum UpdateTuning { static let gapSeconds = 600 }", "updates.gapSeconds 600"),
        ("extension Rules.Starts { static let gapSeconds = 15 }", "starts.gapSeconds 15"),
        ("let startGapSeconds = 15", "starts.gapSeconds 15"),
        ("enum Hockey { static let closeSeconds = 300 }", "moments.hockey.closeSeconds 300"),
        ("struct T { func f() { let marginPoints = 3 } }", "takeover.marginPoints 3"),
        ("#if DEBUG\nlet marginPoints = 1\n#else\nlet marginPoints = 8\n#endif", "takeover.marginPoints 1"),
        ("let gapSeconds = 7", "starts.gapSeconds|updates.gapSeconds 7"),
        ("let (marginPoints, settleSeconds) = (9, 20)", "takeover.marginPoints 9"),
    ])
    func `C6: another value is told, with the key that is meant`(source: String, said: String) {
        #expect(brief(source) == [said])
    }

    @Test func `C6: a name that several keys share is told only when it has the value of none of them`() {
        #expect(findings("let gapSeconds = 15") == [] && findings("let gapSeconds = 600.0") == [])
        #expect(findings("let gapSeconds = 7").map(\.kind) == [.ambiguous])
        #expect(findings("enum Updates { let gapSeconds = 600 }").map(\.kind) == [.differs])
    }

    @Test(arguments: [
        "let marginPoints = remote.value(\"margin\")", "let marginPoints = Config.load().margin",
        "let marginPoints = flag ? 8 : 9", "let marginPoints = \"8\\(x)\"",
        "struct T { var marginPoints: Double { compute() } }",
        "let marginPoints = 8 * unknown", "let marginPoints = 1 / 0", "let marginPoints = marginPoints",
        "let rollsAt = DateComponents(hour: 6)", "let marginPoints = .seconds(8) * .seconds(1)",
        "let a = b; let b = a; let marginPoints = a", "let marginPoints = [8]", "let (marginPoints, other) = pair()",
    ])
    func `C6: a value that cannot be worked out is told, never passed over`(source: String) {
        #expect(findings(source).map(\.kind) == [.unreadable])
    }

    @Test(arguments: [
        "// let marginPoints = 9", "/* let marginPoints = 9 /* nested */ let marginPoints = 9 */",
        "let text = \"let marginPoints = 9\"", "let text = #\"a \" let marginPoints = 9\"#",
        "let text = #\"a \";; let marginPoints = 9; \"#",
        "/* /* nested */ let marginPoints = 9; */",
        "let text = \"\"\"\n  let marginPoints = 9\n  \"quoted\" let marginPoints = 9\n  \"\"\"",
        "let text = \"\\(f(\"let marginPoints = 9\")) let marginPoints = 9\"",
        "let text = ##\"\\#(no) \"# let marginPoints = 9\"##", "let text = #\"\\#(g(1)) let marginPoints = 9\"#",
        "let slash = /\"/\nlet text = \"let marginPoints = 9\"", "let slash = #/\" let marginPoints = 9/#",
        "let marginPoints = 9 // lanekeeper: not Tuning",
        "let marginPoints: Double", "protocol P { var marginPoints: Double { get } }",
        "let marginPoints = tuning.takeover.marginPoints", "if let marginPoints = remote { }",
        "func f() { let marginPoints = remote.value() }",
        "guard let marginPoints, let settleSeconds = x else { return }",
        "enum Kind { case overtime, shootout }", "enum Kind: String { case overtime = \"OT\" }",
        "f(marginPoints: 9)", "let margin = 9", "let x = a.let.marginPoints", "",
    ])
    func `C6: comments, strings, bindings and what only looks alike are left alone`(source: String) {
        #expect(findings(source) == [])
    }

    @Test(arguments: [
        "\"", "/*", "\"\"\"", "#\"", "`", "\"\\(", "let marginPoints =", "let marginPoints: ", "}}}", "{{{", "enum",
        "/", "0x", "let (", "\u{0}",
    ])
    func `C6: source that breaks off anywhere is read to its end`(source: String) {
        _ = findings(source)
        _ = findings("enum Takeover { \(source)")
        #expect(brief("let marginPoints = 9;\n\(source)").first == "takeover.marginPoints 9")
    }

    @Test func `C6: line and name are those of the source`() {
        let source =
            "/* a\n b */\nextension App {\n  enum Takeover {\n    static let settleSeconds = 20,\n      marginPoints = 9\n  }\n}"
        let found = findings(source)
        #expect(found.map(\.line) == [6] && found.map(\.constant) == ["App.Takeover.marginPoints"])
    }

    @Test func `C6: the tuning of a server is compared with just the same`() {
        var tuning = Tuning()
        tuning.takeover.marginPoints = 9
        #expect(findings("let marginPoints = 9", tuning: tuning) == [])
        #expect(findings("let marginPoints = 8", tuning: tuning).count == 1)
    }
}

@Suite struct TuningCheckOptionsTests {
    private func complaint(_ words: [String]) -> String? {
        do throws(WrongUse) {
            _ = try TuningCheckCommand(words)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `tuning check: options are taken`() throws {
        let command = try TuningCheckCommand(["check", "A.swift", "--json", "B.swift", "--tuning", "t.json"])
        #expect(command.files == ["A.swift", "B.swift"] && command.isJSON && command.tuningFile == "t.json")
    }

    @Test(arguments: [
        ([], "tuning needs a command; see lanekeeper tuning --help"),
        (["show"], "show is no command of tuning; see lanekeeper tuning --help"),
        (["check"], "tuning check needs a file; see lanekeeper tuning check --help"),
        (["check", "A.swift", "--yaml"], "--yaml is no option of tuning check; see lanekeeper tuning check --help"),
        (["check", "A.swift", "--tuning"], "--tuning needs a value"),
        (["check", "no/such/File.swift"], nil),
    ])
    func `tuning check: wrong use is named`(words: [String], said: String?) { #expect(complaint(words) == said) }

    @Test func `tuning check: a file that is not there is wrong use`() throws {
        let error = #expect(throws: WrongUse.self) {
            _ = try TuningCheckCommand(["check", "no/such/File.swift"]).run()
        }
        #expect(error?.text == "no/such/File.swift cannot be read: there is no such file; is the path right?")
    }
}
