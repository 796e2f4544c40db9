import CardRules

/// What `lanekeeper replay` was asked for.
struct ReplayOptions: Equatable, Sendable {
    var slateFile: String
    var phoneFiles: [String] = []
    /// For phones whose file has no selection; `nil`: every game of the slate.
    var follow: [GameID]?
    var tuningFile: String?
    var againstFile: String?
    var isJSON = false

    static let usage = """
        lanekeeper replay SLATE: the rules over a recorded slate, without network or clock

          SLATE             a recorded night (NDJSON)
          --phone FILE      a phone, or a list of phones; may be repeated. JSON (comments allowed) with any of timeZone,
                            quietHours, spoilerFree, sound, frequentUpdates, osVersion, user, personalisation as
                            PUT /v1/devices/{device} takes them, selection ({"games": [], "pinned": id, "muted": []}),
                            and name. Without it: one made-up phone, signed in, iOS 18.0, UTC
          --follow LIST     ids of games, separated by commas: what a phone without selection and personalisation
                            follows; without it every game of the slate
          --tuning FILE     tuning values (JSON5): { takeover: { settleSeconds: 40 } }, bare or under tuning
          --against FILE    other values; both are played, and what differs is shown side by side. Without --tuning
                            they are compared with the defaults
          --json            one JSON object instead of text

        The phone is perfect: every push is accepted at once, every start is answered by its update token 2 s later. Its
        app was last opened a minute before the first line. Times are those of the phone's zone.

        --json: {"slate": {"file", "games", "lines", "rejected", "from", "to"}, "runs": [RUN], "differences": [...]}
          RUN           {"tuning", "phones": [{"name", "zone", "steps": [STEP], "totals", "forecast"}]}; two with --against
          STEP          {"at", "kind", "rule", "detail", "from", "to", "push"}; kind: front, start, update, end, withheld
          from, to      of a front change: {"game", "worth", "taste", "lift", "effective"}; from is null on a fresh card
          push          {"priority", "bytes", "games"}
          differences   one a phone, empty without --against: {"name", "same", "first": [STEP], "second": [STEP]}: the
                        front changes that only one run has, and how many both have
        Times are Unix seconds; what does not apply is null.
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "replay")
        var slate: String?
        var rest = ReplayOptions(slateFile: "")
        while let word = arguments.next() {
            switch word {
            case "--phone": rest.phoneFiles.append(try arguments.value(of: word))
            case "--follow": rest.follow = try ReplayOptions.games(try arguments.value(of: word))
            case "--tuning": rest.tuningFile = try arguments.value(of: word)
            case "--against": rest.againstFile = try arguments.value(of: word)
            case "--json": rest.isJSON = true
            case _ where word.hasPrefix("-") || word.isEmpty: throw arguments.unknown(word)
            case _ where slate == nil: slate = word
            default: throw WrongUse("replay takes one slate: \(word) is one too many")
            }
        }
        guard let slate else { throw WrongUse("replay needs a slate; see lanekeeper replay --help") }
        rest.slateFile = slate
        self = rest
    }

    init(slateFile: String) { self.slateFile = slateFile }

    private static func games(_ list: String) throws(WrongUse) -> [GameID] {
        var games: [GameID] = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let game = GameID(String(word)) else {
                throw WrongUse("--follow takes ids of games, separated by commas; \"\(word)\" is none")
            }
            if !games.contains(game) { games.append(game) }
        }
        return games
    }
}
