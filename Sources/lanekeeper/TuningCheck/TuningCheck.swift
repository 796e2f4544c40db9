import CardRules

/// Compares the constants of Swift source that carry names of `Tuning` with its values (C6). Pure.
struct TuningCheck: Sendable {
    struct Finding: Equatable, Sendable {
        enum Kind: String, Sendable {
            case differs
            /// It carries the name, and its value cannot be worked out here.
            case unreadable
            /// Several keys end so, and none of them has the value.
            case ambiguous
        }

        struct Expected: Equatable, Sendable {
            let key: String
            let value: JSONValue
            let rule: String
        }

        let kind: Kind
        let file: String
        let line: Int
        /// `AppTuning.Takeover.marginPoints`.
        let constant: String
        /// As it was read, or the source of it.
        let found: String
        let expected: [Expected]
    }

    private(set) var findings: [Finding] = []
    /// Constants that carry a name of `Tuning`.
    private(set) var checked = 0
    private let tuning: Tuning
    private let keys: [String: TuningKey]
    private let names: TuningNames
    /// `night.rollsAt` is a time of day in the configuration and minutes after midnight in `Tuning`.
    private static let rollsAtMinute = "night.rollsAtMinute"

    init(_ tuning: Tuning = Tuning()) {
        self.tuning = tuning
        keys = Dictionary(uniqueKeysWithValues: TuningKey.all.map { ($0.name, $0) })
        names = TuningNames(TuningKey.all.map(\.name) + [Self.rollsAtMinute])
    }

    mutating func read(_ text: String, file: String) {
        let tokens = SwiftTokens(text)
        let constants = SwiftConstants(tokens.tokens).found
        let reader = ConstantReader(constants)
        for constant in constants where !constant.value.isEmpty && !tokens.exemptLines.contains(constant.line) {
            let value = reader.value(of: constant)
            guard value != .taken else { continue }
            // What a function works out for itself is no copy of anything.
            guard value != .unreadable || !constant.isLocal else { continue }
            var isDuration = false
            if case .duration = value { isDuration = true }
            switch names.match(constant, isDuration: isDuration) {
            case .none: break
            case .one(let key): compare(constant, value, with: [key], file)
            case .several(let keys): compare(constant, value, with: keys, file)
            }
        }
    }

    private mutating func compare(
        _ constant: SwiftConstant, _ value: ConstantValue, with candidates: [String], _ file: String
    ) {
        checked += 1
        let expected = candidates.compactMap(expected)
        if value != .unreadable, expected.contains(where: { matches(value, $0.value) }) { return }
        let kind: Finding.Kind =
            value == .unreadable ? .unreadable : candidates.count > 1 ? .ambiguous : .differs
        findings.append(
            Finding(
                kind: kind, file: file, line: constant.line, constant: constant.path,
                found: text(value) ?? text(constant.value), expected: expected))
    }

    private func expected(_ key: String) -> Finding.Expected? {
        if key == Self.rollsAtMinute {
            return Finding.Expected(key: key, value: .integer(Int64(tuning.night.rollsAtMinute)), rule: "section 0")
        }
        return keys[key].map { Finding.Expected(key: key, value: $0.value(in: tuning), rule: $0.rule) }
    }

    private func matches(_ value: ConstantValue, _ expected: JSONValue) -> Bool {
        switch (value, expected) {
        case (.number(let found), .integer(let whole)), (.duration(let found), .integer(let whole)):
            return found == Double(whole)
        case (.number(let found), .number(let number)), (.duration(let found), .number(let number)):
            return (found - number).magnitude <= 1e-9 * max(1, number.magnitude)
        case (.text(let found), .string(let text)): return found == text
        default: return false
        }
    }

    private func text(_ value: ConstantValue) -> String? {
        switch value {
        case .number(let number): plainText(number)
        case .duration(let seconds): "\(plainText(seconds)) s"
        case .text(let text): "\"\(text)\""
        case .taken, .unreadable: nil
        }
    }

    /// The source of a value, shortened.
    private func text(_ tokens: [SwiftToken]) -> String {
        var text = ""
        for token in tokens.prefix(12) {
            switch token.kind {
            case .word(let word): text += (text.last?.isLetter ?? false) ? " \(word)" : word
            case .number(let number): text += number
            case .string: text += "\"…\""
            case .mark(let mark): text.append(mark)
            }
        }
        return tokens.count > 12 ? text + "…" : text
    }
}

func plainText(_ number: Double) -> String {
    Int64(exactly: number).map { String($0) } ?? String(number)
}
