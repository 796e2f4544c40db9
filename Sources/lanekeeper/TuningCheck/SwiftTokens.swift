/// One token of Swift source, as far as constants need telling apart.
struct SwiftToken: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case word(String)
        /// As written: `1_200`, `0xFF`, `1e3`.
        case number(String)
        /// `nil` where its text depends on what is interpolated.
        case string(String?)
        case mark(Character)
    }

    let kind: Kind
    /// From 1.
    let line: Int
    let isFirstOnLine: Bool

    func isMark(_ character: Character) -> Bool { kind == .mark(character) }

    var word: String? {
        if case .word(let word) = kind { word } else { nil }
    }
}

/// Cuts Swift source into tokens: comments, nested ones too, and what stands inside strings are no tokens. Anything
/// at all can be read; what is no Swift gives marks.
struct SwiftTokens {
    private(set) var tokens: [SwiftToken] = []
    /// Lines with a comment that says `lanekeeper: not Tuning`.
    private(set) var exemptLines: Set<Int> = []
    private let source: [Character]
    private var position = 0
    private var line = 1
    private var lineOfLast = 0

    /// Interpolations in each other; deeper ones are read as text.
    private static let maximumDepth = 16

    init(_ text: String) {
        // A carriage return before a line feed is one character with it.
        source = Array(text)
        read(until: nil, depth: 0)
    }

    /// - Parameter closing: the parenthesis that ends an interpolation; `nil` reads to the end.
    private mutating func read(until closing: Character?, depth: Int) {
        var open = 0
        while let character = peek() {
            switch character {
            case _ where character.isWhitespace: advance()
            case "/" where peek(1) == "/": skipLineComment()
            case "/" where peek(1) == "*": skipBlockComment()
            case "/" where isRegexStart(): skipRegex(hashes: 0)
            case "\"": string(hashes: 0, depth: depth)
            case "#" where hashesBefore("\"") != nil: string(hashes: hashesBefore("\"") ?? 0, depth: depth)
            case "#" where hashesBefore("/") != nil: skipRegex(hashes: hashesBefore("/") ?? 0)
            case "`": quotedWord()
            case _ where character.isASCII && character.isNumber: number()
            case _ where isWordStart(character): word()
            default:
                if closing != nil {
                    if character == "(" { open += 1 }
                    if character == ")" {
                        open -= 1
                        if open < 0 {
                            advance()
                            return
                        }
                    }
                }
                append(.mark(character), line)
                advance()
            }
        }
    }

    // MARK: - Tokens

    private mutating func word() {
        let start = line
        var text = ""
        while let character = peek(), isWordStart(character) || character.isNumber {
            text.append(character)
            advance()
        }
        append(.word(text), start)
    }

    private mutating func quotedWord() {
        let start = line
        var text = ""
        advance()
        while let character = peek(), character != "`", !character.isNewline {
            text.append(character)
            advance()
        }
        if peek() == "`" { advance() }
        append(.word(text), start)
    }

    private mutating func number() {
        let start = line
        var text = ""
        while let character = peek() {
            let isDigit = character.isASCII && (character.isLetter || character.isNumber || character == "_")
            let isPoint =
                character == "." && !text.contains(".") && (peek(1).map { $0.isASCII && $0.isNumber } ?? false)
            let isSign =
                (character == "-" || character == "+") && (peek(1)?.isNumber ?? false)
                && (text.hasPrefix("0x") ? text.last == "p" || text.last == "P" : text.last == "e" || text.last == "E")
            guard isDigit || isPoint || isSign else { break }
            text.append(character)
            advance()
        }
        append(.number(text), start)
    }

    private mutating func string(hashes: Int, depth: Int) {
        let start = line
        for _ in 0..<hashes { advance() }
        let isLong = peek() == "\"" && peek(1) == "\"" && peek(2) == "\""
        for _ in 0..<(isLong ? 3 : 1) { advance() }
        var text: String? = ""
        while let character = peek() {
            if character == "\"", isClosing(isLong, hashes) {
                for _ in 0..<((isLong ? 3 : 1) + hashes) { advance() }
                return append(.string(text), start)
            }
            if character.isNewline, !isLong { break }
            if character == "\\", hashesFollow(hashes, from: 1) {
                for _ in 0...hashes { advance() }
                if peek() == "(", depth < Self.maximumDepth {
                    advance()
                    text = nil
                    let before = tokens.count
                    read(until: ")", depth: depth + 1)
                    tokens.removeSubrange(before...)
                } else if let escaped = peek() {
                    // No value of Tuning needs an escape: what it means is not asked.
                    text = nil
                    _ = escaped
                    advance()
                }
                continue
            }
            text?.append(character)
            advance()
        }
        append(.string(nil), start)
    }

    private func isClosing(_ isLong: Bool, _ hashes: Int) -> Bool {
        let quotes = isLong ? 3 : 1
        for place in 0..<quotes where peek(place) != "\"" { return false }
        return hashesFollow(hashes, from: quotes)
    }

    private func hashesFollow(_ count: Int, from place: Int) -> Bool {
        (0..<count).allSatisfy { peek(place + $0) == "#" }
    }

    /// How many `#` stand here before `mark`; `nil` where none or something else follows.
    private func hashesBefore(_ mark: Character) -> Int? {
        var count = 0
        while peek(count) == "#" { count += 1 }
        return count > 0 && peek(count) == mark ? count : nil
    }

    // MARK: - What is no token

    private mutating func skipLineComment() {
        var text = ""
        let start = line
        while let character = peek(), !character.isNewline {
            text.append(character)
            advance()
        }
        if text.lowercased().contains("lanekeeper: not tuning") { exemptLines.insert(start) }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        while peek() != nil {
            if peek() == "/", peek(1) == "*" {
                depth += 1
                advance()
            } else if peek() == "*", peek(1) == "/" {
                depth -= 1
                advance()
                if depth == 0 {
                    advance()
                    return
                }
            }
            advance()
        }
    }

    /// A slash where a value is expected, with another one on the same line: a regex, not a division.
    private func isRegexStart() -> Bool {
        guard let next = peek(1), !next.isWhitespace else { return false }
        switch tokens.last?.kind {
        case nil: break
        case .mark(let mark): guard "=(,[{:!&|?;".contains(mark) else { return false }
        case .word(let word): guard word == "return" || word == "in" || word == "case" else { return false }
        case .number, .string: return false
        }
        var place = 1
        while let character = peek(place), !character.isNewline {
            if character == "/" { return true }
            place += character == "\\" ? 2 : 1
        }
        return false
    }

    private mutating func skipRegex(hashes: Int) {
        let start = line
        for _ in 0...hashes { advance() }
        while let character = peek() {
            if character == "/", hashesFollow(hashes, from: 1) {
                for _ in 0...hashes { advance() }
                break
            }
            if character.isNewline, hashes == 0 { break }
            if character == "\\" { advance() }
            advance()
        }
        append(.string(nil), start)
    }

    // MARK: - Position

    private func peek(_ ahead: Int = 0) -> Character? {
        let place = position + ahead
        return place < source.count ? source[place] : nil
    }

    private mutating func advance() {
        guard position < source.count else { return }
        if source[position].isNewline { line += 1 }
        position += 1
    }

    private mutating func append(_ kind: SwiftToken.Kind, _ start: Int) {
        tokens.append(SwiftToken(kind: kind, line: start, isFirstOnLine: start != lineOfLast))
        lineOfLast = line
    }

    private func isWordStart(_ character: Character) -> Bool {
        character == "_" || character == "$" || character.isLetter
    }
}
