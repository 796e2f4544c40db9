struct Options {
    var port: UInt16 = 0
    var certificate = ""
    var providerKey = ""
    var keyID = ""
    var teamID = ""
    var pushes = 200_000
    var connections = 4
    var streams = 100
    var rounds = 5
    var h2load = "h2load"
    var isJSON = false
    /// A file of thresholds to compare with.
    var check: String?
    /// A folder for the report.
    var out: String?
    var isAlone = false
    /// Another client, for the same work: its name, the program that runs it, and what that reads.
    var peer: String?
    var peerProgram = ""
    var peerScript = ""
    /// It may be slow: so many pushes are enough for a figure of each.
    var peerPushes: Int { max(1000, pushes / 20) }
    var isHelp = false

    /// - Throws: `WrongUse`.
    init(_ words: [String]) throws {
        var rest = words[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst(), !value.isEmpty else {
                throw WrongUse(description: "\(option) needs a value")
            }
            return value
        }
        func number<Number: FixedWidthInteger>(of option: String, in range: ClosedRange<Number>) throws -> Number {
            let text = try value(of: option)
            guard let number = Number(text), range.contains(number) else {
                throw WrongUse(
                    description: "\(option) takes \(range.lowerBound) to \(range.upperBound), not \(text)")
            }
            return number
        }
        while let word = rest.popFirst() {
            switch word {
            case "--port": port = try number(of: word, in: 1...UInt16.max)
            case "--certificate": certificate = try value(of: word)
            case "--provider-key": providerKey = try value(of: word)
            case "--key-id": keyID = try value(of: word)
            case "--team-id": teamID = try value(of: word)
            case "--pushes": pushes = try number(of: word, in: 1000...10_000_000)
            case "--connections": connections = try number(of: word, in: 1...64)
            case "--streams": streams = try number(of: word, in: 1...1000)
            case "--rounds": rounds = try number(of: word, in: 1...99)
            case "--h2load": h2load = try value(of: word)
            case "--json": isJSON = true
            case "--check": check = try value(of: word)
            case "--out": out = try value(of: word)
            case "--quick": (pushes, rounds) = (20_000, 1)
            case "--alone": isAlone = true
            case "--peer": peer = try value(of: word)
            case "--peer-program": peerProgram = try value(of: word)
            case "--peer-script": peerScript = try value(of: word)
            case "--help", "-h": isHelp = true
            default: throw WrongUse(description: "\(word) is no option; see --help")
            }
        }
        guard isHelp || port > 0 && [certificate, providerKey, keyID, teamID].allSatisfy({ !$0.isEmpty }) else {
            throw WrongUse(description: "--port, --certificate, --provider-key, --key-id and --team-id are needed")
        }
    }
}
