import Measuring

struct Options: Sendable {
    var name = ""
    var isJSON = false
    var isQuick = false
    var isHelp = false
    /// Only the names, for the script.
    var isNames = false
    var out: String?
    var check: String?
    var program: String?
    /// Sizes instead of the benchmark's own.
    var sizes: [Int]?
    /// Of a benchmark that has parts, this one alone.
    var only: String?
    var seed: UInt64 = 20_260_110

    /// - Throws: `WrongUse`.
    init(_ words: [String]) throws {
        var rest = words[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst(), !value.isEmpty else { throw WrongUse("\(option) needs a value") }
            return value
        }
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--quick": isQuick = true
            case "--help", "-h": isHelp = true
            case "--names": isNames = true
            case "--out": out = try value(of: word)
            case "--check": check = try value(of: word)
            case "--program": program = try value(of: word)
            case "--only": only = try value(of: word)
            case "--sizes":
                let text = try value(of: word)
                let numbers = text.split(separator: ",").map { Int($0) ?? 0 }
                guard !numbers.isEmpty, numbers.allSatisfy({ $0 > 0 }) else {
                    throw WrongUse("--sizes takes whole numbers above 0 with commas between, not \(text)")
                }
                sizes = numbers
            case "--seed":
                let text = try value(of: word)
                guard let number = UInt64(text) else { throw WrongUse("--seed takes a whole number, not \(text)") }
                seed = number
            default:
                guard name.isEmpty, !word.hasPrefix("-") else { throw WrongUse("\(word) is no option; see --help") }
                name = word
            }
        }
        guard isHelp || isNames || !name.isEmpty else { throw WrongUse("a benchmark's name is needed; see --help") }
    }
}
