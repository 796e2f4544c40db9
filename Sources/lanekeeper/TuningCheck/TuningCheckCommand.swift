import CardRules
import Intake
import PushWire

/// `lanekeeper tuning check`: compares values copied into an app's source with `Tuning` (C6).
struct TuningCheckCommand: Equatable, Sendable {
    var files: [String] = []
    var tuningFile: String?
    var isJSON = false

    static let usage = """
        lanekeeper tuning check FILE.swift...: compares values copied into an app's source with Tuning

          Constants are compared that carry a name of Tuning: marginPoints, takeoverMarginPoints, or gapSeconds in a
          type such as Starts. A line a difference; what carries a name and cannot be worked out is told too.
          A comment "lanekeeper: not Tuning" behind a constant leaves it out.
          Exit 1 when something was found.

          --tuning FILE     compares with these values: JSON5, a configuration or what stands under tuning in it
          --json            the findings as JSON
        """

    /// - Parameter words: behind `tuning`, the first of them `check`.
    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        guard words.first == "check" else {
            throw WrongUse(
                words.first.map { "\($0) is no command of tuning; see lanekeeper tuning --help" }
                    ?? "tuning needs a command; see lanekeeper tuning --help")
        }
        var arguments = Arguments(Array(words.dropFirst()), of: "tuning check")
        while let word = arguments.next() {
            switch word {
            case "--tuning": tuningFile = try arguments.value(of: word)
            case "--json": isJSON = true
            case "-": files.append(word)
            case _ where word.hasPrefix("-") || word.isEmpty: throw arguments.unknown(word)
            default: files.append(word)
            }
        }
        guard !files.isEmpty else { throw WrongUse("tuning check needs a file; see lanekeeper tuning check --help") }
    }

    /// - Returns: what to say, line by line; what the reader may wonder at; the exit code.
    func run() throws(WrongUse) -> (lines: [String], remark: String?, code: Int32) {
        var check = TuningCheck(try tuning())
        for file in files {
            check.read(String(decoding: try readInput(file), as: UTF8.self), file: file)
        }
        let remark = check.checked == 0 ? "no constant here carries a name of Tuning: nothing was compared" : nil
        let lines = isJSON ? [json(check)] : check.findings.map(line)
        return (lines, remark, check.findings.isEmpty ? 0 : 1)
    }

    private func tuning() throws(WrongUse) -> Tuning {
        guard let tuningFile else { return Tuning() }
        let bytes = try readInput(tuningFile)
        do throws(TuningTextFault) {
            return try TuningText.read(bytes)
        } catch {
            throw WrongUse("\(tuningFile):\(error)")
        }
    }

    private func line(_ finding: TuningCheck.Finding) -> String {
        let values = finding.expected.map { expected in
            finding.expected.count == 1
                ? "\(text(expected.value)) (\(expected.rule))"
                : "\(expected.key) \(text(expected.value)) (\(expected.rule))"
        }.joined(separator: ", ")
        let name = finding.expected.count == 1 ? finding.expected[0].key : finding.constant
        let what =
            switch finding.kind {
            case .differs: "is \(finding.found)"
            case .unreadable: "cannot be worked out from \(finding.found)"
            case .ambiguous: "is \(finding.found), and nothing around it says which is meant"
            }
        return oneLine("\(finding.file):\(finding.line): \(name) \(what), Tuning has \(values)")
    }

    private func text(_ value: JSONValue) -> String {
        switch value {
        case .integer(let whole): String(whole)
        case .number(let number): plainText(number)
        case .string(let text): "\"\(text)\""
        case .null, .bool, .array, .object: ""
        }
    }

    private func json(_ check: TuningCheck) -> String {
        var writer = JSONWriter()
        writer.value(
            .object([
                "checked": .integer(Int64(check.checked)),
                "findings": .array(
                    check.findings.map { finding in
                        .object([
                            "file": .string(finding.file), "line": .integer(Int64(finding.line)),
                            "constant": .string(finding.constant), "kind": .string(finding.kind.rawValue),
                            "found": .string(finding.found),
                            "tuning": .array(
                                finding.expected.map {
                                    .object(["key": .string($0.key), "value": $0.value, "rule": .string($0.rule)])
                                }),
                        ])
                    }),
            ]))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
