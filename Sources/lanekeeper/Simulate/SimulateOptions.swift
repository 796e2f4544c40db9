import Simulation

/// What `lanekeeper simulate` was asked for.
struct SimulateOptions: Equatable, Sendable {
    var seeds: ClosedRange<UInt64> = 1...20
    var phones = 20
    var hours = 24
    /// `nil`: every kind may happen, each seed draws its own.
    var faults: [FaultKind]?
    var isJSON = false
    var jobs = 0

    static let usage = """
        lanekeeper simulate: whole days of the system in one process, from seeds, with everything going wrong

          --seeds A-B      which days; A alone is one day (default 1-20)
          --phones N       handsets, 1 to 10000 (default 20)
          --hours H        length of a day, 2 to 72 (default 24); its end is free of faults
          --faults LIST    exactly these kinds, with commas between; none: no faults (default: each seed draws from all)
          --jobs N         days at a time, 1 to 64 (default: as many as there are cores)
          --json           a line of JSON for each seed, and the totals last

        A day is the same whenever it is run: its hash says so. It ends with 1 when a day broke an invariant; then the
        faults that it takes, the command that repeats it, and the story of the phone are printed.

        Kinds of faults:
        \(FaultKind.allCases.map { "  " + $0.rawValue }.joined(separator: "\n"))
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "simulate")
        while let word = arguments.next() {
            switch word {
            case "--seeds": seeds = try SimulateOptions.range(try arguments.value(of: word))
            case "--phones": phones = try arguments.wholeNumber(of: word, in: 1...10_000)
            case "--hours": hours = try arguments.wholeNumber(of: word, in: 2...72)
            case "--faults": faults = try SimulateOptions.kinds(try arguments.value(of: word))
            case "--jobs": jobs = try arguments.wholeNumber(of: word, in: 1...64)
            case "--json": isJSON = true
            default: throw arguments.unknown(word)
            }
        }
    }

    private static func range(_ text: String) throws(WrongUse) -> ClosedRange<UInt64> {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard let first = parts.first ?? nil, parts.count <= 2, let last = parts[parts.count - 1], first <= last,
            last - first < 10_000_000
        else {
            throw WrongUse(
                "--seeds takes a whole number, or two like 1-20, the first not above the second, not \(text)")
        }
        return first...last
    }

    private static func kinds(_ text: String) throws(WrongUse) -> [FaultKind] {
        if text == "none" { return [] }
        var kinds: [FaultKind] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = FaultKind(rawValue: String(word)) else {
                throw WrongUse("--faults: \(word) is no kind of fault; see lanekeeper simulate --help")
            }
            kinds.append(kind)
        }
        return kinds
    }

    /// The day of one seed.
    func world(of seed: UInt64, faults only: [FaultKind]? = nil, storyLines: Int = 0) -> WorldOptions {
        var options = WorldOptions(seed: seed)
        options.phones = phones
        options.hours = Double(hours)
        options.storyLines = storyLines
        if let kinds = only ?? faults {
            options.faults = Set(kinds)
            options.hasAllFaults = true
        }
        return options
    }

    /// The command that runs one day anew.
    func command(for seed: UInt64, faults: [FaultKind]) -> String {
        let list = faults.isEmpty ? "none" : faults.map(\.rawValue).joined(separator: ",")
        return "lanekeeper simulate --seeds \(seed) --phones \(phones) --hours \(hours) --faults \(list)"
    }
}
