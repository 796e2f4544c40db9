public import CardRules

/// The content state of a slate card as bytes, with the places where games can be cut off its tail (P8).
///
/// Members are in order of their names, what is nil is left out (P11).
public struct ContentBytes: Hashable, Sendable {
    private let bytes: [UInt8]
    /// Where in `bytes` each game ends.
    private let gameEnds: [Int]

    public init(_ content: SlateContent) {
        var writer = JSONWriter()
        self.init(content, using: &writer)
    }

    /// - Parameter writer: a kept buffer; what it held is gone.
    init(_ content: SlateContent, using writer: inout JSONWriter) {
        writer.reset()
        var ends: [Int] = []
        ends.reserveCapacity(content.games.count)
        writer.raw("{\"asOf\":")
        writer.integer(content.asOf)
        writer.raw(",\"front\":")
        writer.string(content.front.text)
        writer.raw(",\"games\":[")
        for (index, game) in content.games.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.game(game)
            ends.append(writer.bytes.count)
        }
        writer.raw("],\"spoilerFree\":")
        writer.bool(content.spoilerFree)
        writer.raw("}")
        bytes = Array(writer.bytes)
        gameEnds = ends
    }

    public var games: Int { gameEnds.count }

    /// All of it.
    public var full: [UInt8] { bytes }

    /// How many bytes it has with its first `games` games. At least one game stays, where there is one.
    func count(games: Int) -> Int { cut(games) + bytes.count - tailStart }

    /// Appends it with its first `games` games: the front is the first, and always stays.
    func append(games: Int, to payload: inout [UInt8]) {
        payload.append(contentsOf: bytes[..<cut(games)])
        payload.append(contentsOf: bytes[tailStart...])
    }

    private func cut(_ games: Int) -> Int { gameEnds.isEmpty ? tailStart : gameEnds[max(1, games) - 1] }

    private var tailStart: Int { gameEnds.last ?? bytes.count }
}

extension JSONWriter {
    fileprivate mutating func game(_ game: SlateContent.Game) {
        raw("{\"away\":")
        string(game.away)
        if let score = game.awayScore { member(",\"awayScore\":", score) }
        if let clock = game.clock { member(",\"clock\":", clock) }
        if let detail = game.detail, detail != .null {
            raw(",\"detail\":")
            value(detail)
        }
        member(",\"home\":", game.home)
        if let score = game.homeScore { member(",\"homeScore\":", score) }
        member(",\"id\":", game.id.text)
        if let league = game.league { member(",\"league\":", league) }
        if let moment = game.moment { member(",\"moment\":", moment.rawValue) }
        if let period = game.period { member(",\"period\":", period) }
        member(",\"phase\":", game.phase.rawValue)
        member(",\"sport\":", game.sport)
        raw("}")
    }

    private mutating func member(_ name: StaticString, _ text: String) {
        raw(name)
        string(text)
    }

    private mutating func member(_ name: StaticString, _ value: Int) {
        raw(name)
        integer(Int64(value))
    }
}
