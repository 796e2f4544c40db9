/// What stands behind a command's name, taken from the front.
struct Arguments {
    private let command: String
    private var rest: ArraySlice<String>

    init(_ words: [String], of command: String) {
        self.command = command
        rest = words[...]
    }

    /// `--help` or `-h` anywhere among them.
    static func askForHelp(_ words: [String]) -> Bool { words.contains("--help") || words.contains("-h") }

    mutating func next() -> String? { rest.popFirst() }

    /// - Throws: `WrongUse` where the next word is another option, empty or missing.
    mutating func value(of option: String) throws(WrongUse) -> String {
        guard let value = rest.first, !value.isEmpty, !value.hasPrefix("--") else {
            throw WrongUse("\(option) needs a value")
        }
        rest.removeFirst()
        return value
    }

    /// - Throws: `WrongUse` naming the option and what it takes.
    mutating func wholeNumber<Number: FixedWidthInteger>(
        of option: String, in range: ClosedRange<Number>
    ) throws(WrongUse) -> Number {
        let text = try value(of: option)
        guard let number = Number(text), range.contains(number) else {
            let limits =
                range.upperBound == .max && Number.bitWidth > 16
                ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw WrongUse("\(option) takes a whole number \(limits), not \(text)")
        }
        return number
    }

    func unknown(_ word: String) -> WrongUse {
        WrongUse("\(word) is no option of \(command); see lanekeeper \(command) --help")
    }
}

/// The command was used wrongly: one line, exit 2.
struct WrongUse: Error, Equatable, Sendable {
    let text: String
    init(_ text: String) { self.text = text }
}
