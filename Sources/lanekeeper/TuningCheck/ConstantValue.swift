/// What a constant's value comes to.
enum ConstantValue: Equatable, Sendable {
    case number(Double)
    /// A `Duration` or `DispatchTimeInterval`, in seconds.
    case duration(seconds: Double)
    case text(String)
    /// Taken from a property of the same name, such as `tuning.takeover.marginPoints`: no copy.
    case taken
    /// It stands here, and is nothing that can be worked out.
    case unreadable
}

/// Works out literals, the four operations, conversions, durations, and names of other constants of the same file.
struct ConstantReader {
    private let constants: [String: [SwiftConstant]]
    /// Constants that rest on each other; more are not followed.
    private static let maximumDepth = 16

    init(_ constants: [SwiftConstant]) {
        self.constants = Dictionary(grouping: constants.filter { !$0.value.isEmpty }, by: \.name)
    }

    func value(of constant: SwiftConstant) -> ConstantValue { value(of: constant, depth: 0) }

    private func value(of constant: SwiftConstant, depth: Int) -> ConstantValue {
        let tokens = constant.value
        if tokens.count == 1, case .string(let text) = tokens[0].kind { return text.map { .text($0) } ?? .unreadable }
        if tokens.count >= 3, tokens.last?.word == constant.name, isPath(tokens) { return .taken }
        var parser = Parser(
            tokens: tokens, isFraction: Parser.isFraction(constant.annotation), own: constant.name, depth: depth,
            reader: self)
        guard let term = parser.sum(), parser.isAtEnd, term.value.isFinite else { return .unreadable }
        return term.isDuration ? .duration(seconds: term.value) : .number(term.value)
    }

    private func isPath(_ tokens: [SwiftToken]) -> Bool {
        tokens.enumerated().allSatisfy { index, token in index % 2 == 0 ? token.word != nil : token.isMark(".") }
    }

    private struct Term {
        var value: Double
        /// A whole number of an integer type: division cuts off.
        var isWhole: Bool
        var isDuration = false
    }

    private struct Parser {
        let tokens: [SwiftToken]
        /// The annotation makes whole literals fractions.
        let isFraction: Bool
        let own: String
        let depth: Int
        let reader: ConstantReader
        private var position = 0
        private var nesting = 0

        init(tokens: [SwiftToken], isFraction: Bool, own: String, depth: Int, reader: ConstantReader) {
            self.tokens = tokens
            self.isFraction = isFraction
            self.own = own
            self.depth = depth
            self.reader = reader
        }

        static let fractions: Set<String> = [
            "Double", "Float", "CGFloat", "TimeInterval", "Float64", "Float32", "Decimal",
        ]
        static let wholes: Set<String> = [
            "Int", "Int64", "Int32", "Int16", "Int8", "UInt", "UInt64", "UInt32", "UInt16", "UInt8",
        ]
        static let durations: [String: Double] = [
            "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1, "milliseconds": 1e-3, "microseconds": 1e-6,
            "nanoseconds": 1e-9,
        ]

        static func isFraction(_ annotation: String?) -> Bool {
            guard let last = annotation?.split(separator: ".").last else { return false }
            return fractions.contains(last.filter { $0 != "?" && $0 != "!" })
        }

        var isAtEnd: Bool { position == tokens.count }

        mutating func sum() -> Term? {
            guard var left = product() else { return nil }
            while let mark = take("+", "-") {
                guard let right = product(), left.isDuration == right.isDuration else { return nil }
                left.value = mark == "+" ? left.value + right.value : left.value - right.value
                left.isWhole = left.isWhole && right.isWhole
            }
            return left
        }

        private mutating func product() -> Term? {
            guard var left = factor() else { return nil }
            while let mark = take("*", "/") {
                guard let right = factor(), !(left.isDuration && right.isDuration) else { return nil }
                let isWhole = left.isWhole && right.isWhole
                if mark == "*" {
                    left.value *= right.value
                } else {
                    guard right.value != 0, !right.isDuration else { return nil }
                    left.value = isWhole ? (left.value / right.value).rounded(.towardZero) : left.value / right.value
                }
                left.isWhole = isWhole
                left.isDuration = left.isDuration || right.isDuration
            }
            return left
        }

        private mutating func factor() -> Term? {
            nesting += 1
            defer { nesting -= 1 }
            guard nesting < 64, position < tokens.count else { return nil }
            switch tokens[position].kind {
            case .mark("-"):
                position += 1
                guard var term = factor() else { return nil }
                term.value = -term.value
                return term
            case .mark("+"):
                position += 1
                return factor()
            case .mark("("):
                position += 1
                guard let term = sum(), take(")") != nil else { return nil }
                return term
            case .number(let text):
                position += 1
                return ConstantReader.literal(text).map { Term(value: $0.0, isWhole: $0.1 && !isFraction) }
            case .mark("."), .word: return named()
            case .string, .mark: return nil
            }
        }

        /// `.seconds(600)`, `Duration.seconds(600)`, `Double(8)`, `Self.hour`.
        private mutating func named() -> Term? {
            var path: [String] = []
            if tokens[position].isMark(".") { position += 1 }
            while position < tokens.count, let word = tokens[position].word {
                path.append(word)
                position += 1
                guard take(".") != nil else { break }
            }
            guard let name = path.last else { return nil }
            guard take("(") != nil else { return constant(name) }
            guard var term = sum(), take(")") != nil, !term.isDuration else { return nil }
            if let unit = Self.durations[name] {
                return Term(value: term.value * unit, isWhole: false, isDuration: true)
            }
            guard path.count == 1 else { return nil }
            if Self.fractions.contains(name) {
                term.isWhole = false
                return term
            }
            guard Self.wholes.contains(name) else { return nil }
            return Term(value: term.value.rounded(.towardZero), isWhole: true)
        }

        private func constant(_ name: String) -> Term? {
            guard depth < ConstantReader.maximumDepth, name != own, let known = reader.constants[name], known.count == 1
            else { return nil }
            switch reader.value(of: known[0], depth: depth + 1) {
            case .number(let value):
                return Term(
                    value: value,
                    isWhole: !isFraction && !Self.isFraction(known[0].annotation) && value == value.rounded()
                        && known[0].value.allSatisfy {
                            if case .number(let text) = $0.kind { !text.contains(".") } else { true }
                        }
                )
            case .duration(let seconds): return Term(value: seconds, isWhole: false, isDuration: true)
            case .text, .taken, .unreadable: return nil
            }
        }

        private mutating func take(_ marks: Character...) -> Character? {
            guard position < tokens.count, case .mark(let mark) = tokens[position].kind, marks.contains(mark) else {
                return nil
            }
            position += 1
            return mark
        }
    }

    /// A number as Swift writes it, and whether it is whole.
    static func literal(_ text: String) -> (Double, Bool)? {
        let plain = text.filter { $0 != "_" }
        for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] where plain.lowercased().hasPrefix(prefix) {
            if let whole = Int64(plain.dropFirst(2), radix: radix) { return (Double(whole), true) }
            return radix == 16 ? Double(plain).map { ($0, false) } : nil
        }
        if let whole = Int64(plain) { return (Double(whole), true) }
        guard plain.allSatisfy({ $0.isNumber || ".eE+-".contains($0) }) else { return nil }
        return Double(plain).map { ($0, false) }
    }
}
