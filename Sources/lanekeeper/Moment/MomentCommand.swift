import CardRules

/// `lanekeeper moment KIND`: a made-up moment for some phones.
struct MomentCommand: Equatable, Sendable {
    var daemon = DaemonOptions()
    var kind = MomentKind.overtime
    var game = ""
    var devices: [String] = []
    var seconds = 30

    static let usage = """
        lanekeeper moment KIND --game G --device D: makes a moment of a game up, for these phones alone

          KIND: \(MomentKind.allCases.map(\.rawValue).joined(separator: ", "))
          --game ID               a game of the slate
          --device ID             a phone that it is for; repeatable
          --seconds N             how long the moment lasts, from 1 to 3600 (30)
        \(DaemonOptions.usage)
          The key needs the scope admin. What each phone's lane made of it: lanekeeper lane DEVICE.
        """

    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "moment")
        var word = arguments.next()
        let kinds = MomentKind.allCases.map(\.rawValue).joined(separator: ", ")
        guard let first = word, let kind = MomentKind(rawValue: first) else {
            throw WrongUse("moment takes a kind first: \(kinds)")
        }
        self.kind = kind
        word = arguments.next()
        while let option = word {
            switch option {
            case "--game": game = try arguments.value(of: option)
            case "--device": devices.append(try arguments.value(of: option))
            case "--seconds": seconds = try arguments.wholeNumber(of: option, in: 1...3600)
            case _ where try daemon.take(option, &arguments): break
            default: throw arguments.unknown(option)
            }
            word = arguments.next()
        }
        guard !game.isEmpty, !devices.isEmpty else { throw WrongUse("moment needs --game and --device") }
    }

    var body: JSONValue {
        .object([
            "game": .string(game), "kind": .string(kind.rawValue), "seconds": .integer(Int64(seconds)),
            "devices": .array(devices.map { .string($0) }),
        ])
    }

    /// - Returns: what to say on standard output.
    /// - Throws: `WrongUse`, `ConfigurationFaults`, `DaemonFault`.
    func run() async throws -> [String] {
        try await daemon.withDaemon(try daemon.daemonConfiguration()) { calls in
            _ = try await calls.post("/v1/moments", body)
            if daemon.isJSON { return [jsonText(body)] }
            let phones = devices.map(tamed).joined(separator: ", ")
            return ["\(kind.rawValue) of \(tamed(game)) for \(seconds) s, for \(phones)"]
        }
    }
}
