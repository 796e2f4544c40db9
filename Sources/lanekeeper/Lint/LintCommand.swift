import CardRules
import Intake
import PushWire

/// `lanekeeper lint`: judges Live Activity pushes by the rules and by what iOS is known to do.
struct LintCommand: Equatable, Sendable {
    var files: [String] = []
    var isSpoilerFree = false
    var isJSON = false

    static let usage = """
        lanekeeper lint FILE...: checks Live Activity payloads against the rules and iOS's

          A file holds one payload, {"aps":{...}}, or {"headers":{"apns-topic":"...",...},"payload":{"aps":{...}}}
          where the headers are to be judged too. - is standard input.
          A line a finding: place, rule, what is wrong, what comes of it, who can put it right.
          Exit 1 when something was found.

          --spoiler-free    the phone wants to know nothing of how a game stands
          --json            the findings as JSON
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "lint")
        while let word = arguments.next() {
            switch word {
            case "--spoiler-free": isSpoilerFree = true
            case "--json": isJSON = true
            case "-": files.append(word)
            case _ where word.hasPrefix("-") || word.isEmpty: throw arguments.unknown(word)
            default: files.append(word)
            }
        }
        guard !files.isEmpty else { throw WrongUse("lint needs a file; see lanekeeper lint --help") }
    }

    /// - Returns: what to say, line by line, and the exit code.
    func run() throws(WrongUse) -> (lines: [String], code: Int32) {
        var found: [(file: String, finding: PayloadFinding)] = []
        for file in files {
            let bytes = try readInput(file)
            found += lintPayload(bytes, isSpoilerFree: isSpoilerFree).map { (file, $0) }
        }
        let lines = isJSON ? [json(found)] : found.map { line($0.finding, in: $0.file) }
        return (lines, found.isEmpty ? 0 : 1)
    }

    private func line(_ finding: PayloadFinding, in file: String) -> String {
        let place = "\(file):\(finding.line):\(finding.column)"
        let pointer = finding.pointer.isEmpty ? "" : " (\(finding.pointer))"
        return oneLine(
            "\(place): \(finding.rule): \(finding.what)\(pointer); \(finding.outcome); for the \(finding.responsible.rawValue)"
        )
    }

    private func json(_ found: [(file: String, finding: PayloadFinding)]) -> String {
        var writer = JSONWriter()
        writer.value(
            .object([
                "findings": .array(
                    found.map { file, finding in
                        .object([
                            "file": .string(file), "line": .integer(Int64(finding.line)),
                            "column": .integer(Int64(finding.column)), "pointer": .string(finding.pointer),
                            "kind": .string(finding.kind.rawValue), "rule": .string(finding.rule),
                            "what": .string(finding.what), "outcome": .string(finding.outcome),
                            "responsible": .string(finding.responsible.rawValue),
                        ])
                    }),
                "files": .integer(Int64(files.count)),
            ]))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
