/// What `lanekeeper demo` was asked for.
struct DemoOptions: Equatable, Sendable {
    enum Speed: Equatable, Sendable {
        /// Virtual seconds in a real one.
        case times(Double)
        /// The clock jumps to the next tick or deadline whenever nothing is in flight.
        case max
    }

    var slateFile: String?
    var phones = 200
    var speed = Speed.times(60)
    var seed: UInt64 = 1
    var isHeadless = false
    var reportFile: String?

    static let usage = """
        lanekeeper demo: a night of games through the whole system, to simulated phones, on this machine

          --slate FILE      a recorded night (NDJSON); without it one is made up from the seed
          --phones N        handsets, 1 to 100000 (default 200)
          --speed S         1, 60 or max (default 60); max jumps over every quiet moment
          --seed N          of the night and the phones (default 1)
          --headless        no keys are read; without it q and Return leave the demo
          --report FILE     writes the summary as JSON
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ arguments: [String]) throws(WrongUse) {
        var rest = arguments[...]
        func value(of flag: String) throws(WrongUse) -> String {
            guard let value = rest.first, !value.isEmpty, !value.hasPrefix("--") else {
                throw WrongUse("\(flag) needs a value")
            }
            rest.removeFirst()
            return value
        }
        while let flag = rest.popFirst() {
            switch flag {
            case "--slate": slateFile = try value(of: flag)
            case "--report": reportFile = try value(of: flag)
            case "--headless": isHeadless = true
            case "--phones":
                let text = try value(of: flag)
                guard let count = Int(text), (1...100_000).contains(count) else {
                    throw WrongUse("--phones takes a whole number from 1 to 100000, not \(text)")
                }
                phones = count
            case "--seed":
                let text = try value(of: flag)
                guard let number = UInt64(text) else {
                    throw WrongUse("--seed takes a whole number from 0, not \(text)")
                }
                seed = number
            case "--speed":
                let text = try value(of: flag)
                switch text {
                case "1": speed = .times(1)
                case "60": speed = .times(60)
                case "max": speed = .max
                default: throw WrongUse("--speed takes 1, 60 or max, not \(text)")
                }
            default:
                throw WrongUse("\(flag) is no option of demo; see lanekeeper demo --help")
            }
        }
    }
}

/// The command was used wrongly: one line, exit 2.
struct WrongUse: Error, Equatable, Sendable {
    let text: String
    init(_ text: String) { self.text = text }
}
