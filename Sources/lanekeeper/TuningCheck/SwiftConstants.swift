/// A constant declared in Swift source.
struct SwiftConstant: Equatable, Sendable {
    let name: String
    /// The types around it, the outermost first: `extension Rules.Takeover` is two.
    let types: [String]
    /// Inside a function or a closure.
    let isLocal: Bool
    let annotation: String?
    /// The tokens of its value; empty where it has none here.
    let value: [SwiftToken]
    let line: Int

    /// `AppTuning.Takeover.marginPoints`.
    var path: String { (types + [name]).joined(separator: ".") }
}

/// Finds the constants of a file: `let` and `var` with a value, cases with a raw value, and properties that do nothing
/// but return one. Bindings of conditions and patterns are none.
struct SwiftConstants {
    private(set) var found: [SwiftConstant] = []
    private let tokens: [SwiftToken]
    private var position = 0
    /// What each open brace belongs to; empty for a function, a closure and the like.
    private var scopes: [[String]] = []
    /// The type whose brace comes next.
    private var announced: [String]?

    private static let typeWords: Set<String> = ["struct", "class", "enum", "actor", "extension", "protocol"]

    init(_ tokens: [SwiftToken]) {
        self.tokens = tokens
        while position < tokens.count { step() }
    }

    private mutating func step() {
        let token = tokens[position]
        switch token.kind {
        case .mark("{"):
            scopes.append(announced ?? [])
            announced = nil
        case .mark("}"): _ = scopes.popLast()
        case .word(let word) where Self.typeWords.contains(word) && !isMember(position):
            if let names = typeNames(at: position + 1) { announced = names }
        case .word("let"), .word("var"):
            if !isMember(position), !isBinding(position) { return declarations() }
        case .word("case"):
            // Of an enum; inside functions it is a pattern.
            if let scope = scopes.last, !scope.isEmpty { return declarations() }
        case .word("func"), .word("init"), .word("subscript"): announced = nil
        default: break
        }
        position += 1
    }

    /// `class func` and `class var` are no types.
    private func typeNames(at start: Int) -> [String]? {
        var names: [String] = []
        var place = start
        while place < tokens.count, let word = tokens[place].word {
            if names.isEmpty, ["func", "var", "let", "subscript", "init", "override", "final"].contains(word) {
                return nil
            }
            names.append(word)
            guard place + 1 < tokens.count, tokens[place + 1].isMark(".") else { break }
            place += 2
        }
        return names.isEmpty ? nil : names
    }

    private func isMember(_ place: Int) -> Bool { place > 0 && tokens[place - 1].isMark(".") }

    private func isBinding(_ place: Int) -> Bool {
        guard place > 0 else { return false }
        switch tokens[place - 1].kind {
        case .word(let word): return ["if", "guard", "while", "case", "for", "catch", "await", "in"].contains(word)
        case .mark(let mark): return mark == "," || mark == "("
        case .number, .string: return false
        }
    }

    // MARK: - Declarations

    /// From `let`, `var` or `case` on: one or several names with values, separated by commas.
    private mutating func declarations() {
        position += 1
        if position < tokens.count, tokens[position].isMark("(") { return tuple() }
        while position < tokens.count, let name = tokens[position].word {
            let line = tokens[position].line
            position += 1
            var annotation: String?
            if position < tokens.count, tokens[position].isMark(":") {
                position += 1
                annotation = type()
            }
            var value: [SwiftToken] = []
            if position < tokens.count, tokens[position].isMark("=") {
                position += 1
                value = expression()
            } else if position < tokens.count, tokens[position].isMark("{"), let body = body() {
                value = body
            }
            add(name, annotation, value, line)
            guard position < tokens.count, tokens[position].isMark(",") else { return }
            position += 1
        }
    }

    /// `let (a, b) = (1, 2)`. Where the sides do not pair, each name has the whole for its value.
    private mutating func tuple() {
        var names: [(String, Int)] = []
        while position < tokens.count, !tokens[position].isMark(")"), !tokens[position].isMark("=") {
            if let word = tokens[position].word { names.append((word, tokens[position].line)) }
            position += 1
        }
        position += 1
        guard position < tokens.count, tokens[position].isMark("=") else { return }
        position += 1
        let whole = expression()
        let values = elements(of: whole)
        for (index, name) in names.enumerated() {
            add(name.0, nil, values.count == names.count ? values[index] : whole, name.1)
        }
    }

    /// What stands between the commas of a tuple; nothing for anything else.
    private func elements(of whole: [SwiftToken]) -> [[SwiftToken]] {
        guard whole.count > 2, whole[0].isMark("("), whole[whole.count - 1].isMark(")") else { return [] }
        var elements: [[SwiftToken]] = [[]]
        var depth = 0
        for token in whole[1..<(whole.count - 1)] {
            if case .mark(let mark) = token.kind {
                if "([{".contains(mark) { depth += 1 }
                if ")]}".contains(mark) { depth -= 1 }
                if mark == ",", depth == 0 {
                    elements.append([])
                    continue
                }
            }
            elements[elements.count - 1].append(token)
        }
        return elements
    }

    private mutating func add(_ name: String, _ annotation: String?, _ value: [SwiftToken], _ line: Int) {
        found.append(
            SwiftConstant(
                name: name, types: scopes.flatMap(\.self), isLocal: scopes.contains([]), annotation: annotation,
                value: value, line: line))
    }

    /// The annotation, up to the value, the body, the next name or the end of the line.
    private mutating func type() -> String {
        var text = ""
        var depth = 0
        while position < tokens.count {
            let token = tokens[position]
            if depth == 0, token.isMark("=") || token.isMark("{") || token.isMark(",") || token.isMark("}") { break }
            if depth == 0, !text.isEmpty, token.isFirstOnLine || token.isMark(";") { break }
            if token.isMark("(") || token.isMark("[") || token.isMark("<") { depth += 1 }
            if token.isMark(")") || token.isMark("]") || token.isMark(">") { depth -= 1 }
            guard depth >= 0 else { break }
            switch token.kind {
            case .word(let word): text += word
            case .mark(let mark): text.append(mark)
            case .number, .string: break
            }
            position += 1
        }
        return text
    }

    /// Up to the end of the statement: a new line that an operator does not carry on, a comma, a closing bracket.
    private mutating func expression() -> [SwiftToken] {
        var taken: [SwiftToken] = []
        var depth = 0
        while position < tokens.count {
            let token = tokens[position]
            if depth == 0, !taken.isEmpty {
                if token.isMark(",") || token.isMark(";") || token.isMark("{") { break }
                if token.isFirstOnLine, !carriesOn(taken[taken.count - 1], token) { break }
            }
            if case .mark(let mark) = token.kind {
                if "([{".contains(mark) { depth += 1 }
                if ")]}".contains(mark) {
                    depth -= 1
                    guard depth >= 0 else { break }
                }
            }
            taken.append(token)
            position += 1
        }
        return taken
    }

    private func carriesOn(_ last: SwiftToken, _ next: SwiftToken) -> Bool {
        func isOperator(_ token: SwiftToken) -> Bool {
            if case .mark(let mark) = token.kind { "+-*/.%&|<>=?".contains(mark) } else { false }
        }
        return isOperator(last) || isOperator(next)
    }

    /// `{ 8 }` or `{ return 8 }`, also behind `get`: the tokens between. Of a requirement (`{ get set }`) and of
    /// observers nothing. Anything else is taken whole, and cannot be read. The position is then behind it.
    private mutating func body() -> [SwiftToken]? {
        var depth = 0
        var end = position
        while end < tokens.count {
            if tokens[end].isMark("{") { depth += 1 }
            if tokens[end].isMark("}") {
                depth -= 1
                if depth == 0 { break }
            }
            end += 1
        }
        guard end < tokens.count else { return nil }
        var inside = Array(tokens[(position + 1)..<end])
        let words = inside.compactMap(\.word)
        if words.count == inside.count, words.allSatisfy({ ["get", "set", "async", "throws"].contains($0) }) {
            position = end + 1
            return []
        }
        if let first = words.first, first == "didSet" || first == "willSet" {
            position = end + 1
            return []
        }
        if inside.count > 2, inside[0].word == "get", inside[1].isMark("{"), inside[inside.count - 1].isMark("}") {
            inside = Array(inside[2..<(inside.count - 1)])
        }
        if inside.first?.word == "return" { inside.removeFirst() }
        position = end + 1
        return inside
    }
}
