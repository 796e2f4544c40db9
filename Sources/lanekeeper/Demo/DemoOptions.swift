/// What `lanekeeper demo` was asked for.
struct DemoOptions: Equatable, Sendable {
    enum Speed: Equatable, Sendable {
        /// Virtual seconds in a real one.
        case times(Double)
        /// The clock jumps to the next tick or deadline whenever nothing is in flight.
        case max

        var text: String {
            switch self {
            case .times(let times): "\(Int(times))x"
            case .max: "max"
            }
        }
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
          --headless        no live view and no keys: a line for each quarter of an hour of the night
          --report FILE     writes the summary as JSON

        It is the daemon of lanekeeper serve, on a free port of loopback: the address of its API and a key to it are printed
        first, for curl and for other commands, while it runs.

        On a terminal the night is drawn live, and ? shows the keys. Where text cannot be placed there are the lines,
        and q and Return leave. NO_COLOR is heeded.
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "demo")
        while let word = arguments.next() {
            switch word {
            case "--slate": slateFile = try arguments.value(of: word)
            case "--report": reportFile = try arguments.value(of: word)
            case "--headless": isHeadless = true
            case "--phones": phones = try arguments.wholeNumber(of: word, in: 1...100_000)
            case "--seed": seed = try arguments.wholeNumber(of: word, in: 0...(.max))
            case "--speed":
                let text = try arguments.value(of: word)
                switch text {
                case "1": speed = .times(1)
                case "60": speed = .times(60)
                case "max": speed = .max
                default: throw WrongUse("--speed takes 1, 60 or max, not \(text)")
                }
            default: throw arguments.unknown(word)
            }
        }
    }
}
