import CardRules
import Intake
import PushWire

/// The slate that was played.
struct ReplaySlate: Sendable {
    let file: String
    let games: Int
    let lines: Int
    let rejected: Int
    let from: WallTime?
    let to: WallTime?
}

/// `lanekeeper replay`: reads what it was given, plays it, says what came of it.
struct ReplayRun {
    private let slate: SlateFile
    private let summary: ReplaySlate
    private let phones: [ReplayPhone]
    /// What phones follow that neither choose nor rank.
    private let following: [GameID]
    private let tuning: (name: String, values: Tuning)
    private let against: (name: String, values: Tuning)?
    private let isJSON: Bool

    /// For standard error.
    var faults: [String] { slate.faults }

    /// - Throws: `WrongUse` for a file that is not there or does not say what it should.
    init(_ options: ReplayOptions) throws(WrongUse) {
        slate = try SlateFile(path: options.slateFile)
        let games = ReplayRun.gamesInOrder(slate.lines)
        summary = ReplaySlate(
            file: options.slateFile, games: games.count, lines: slate.lines.count, rejected: slate.rejected,
            from: slate.lines.map(\.at).min(), to: slate.lines.map(\.at).max())
        for game in options.follow ?? [] where !games.contains(game) {
            let nearest = nearestName(to: game.text, among: games.map(\.text))
            throw WrongUse("--follow: \(game) is no game of the slate" + (nearest.map { "; \($0)?" } ?? ""))
        }
        following = options.follow ?? games
        let zones = ZoneDirectory()
        var phones: [ReplayPhone] = []
        for path in options.phoneFiles {
            phones += try ReplayPhone.phones(in: try readBytes(of: path), of: path, zones: zones)
        }
        self.phones = phones.isEmpty ? [ReplayPhone()] : phones
        tuning = try ReplayRun.tuning(options.tuningFile)
        against = try options.againstFile.map { (path) throws(WrongUse) in try ReplayRun.tuning(path) }
        isJSON = options.isJSON
    }

    func run() {
        let ticks = SlateTick.ticks(of: slate.lines)
        func nights(_ tuning: Tuning) -> [ReplayNight] {
            ReplayEngine.nights(of: ticks, phones: phones, following: following, tuning: tuning)
        }
        let first = nights(tuning.values)
        let second = against.map { nights($0.values) }
        let comparisons = zip(first, second ?? []).map { ReplayComparison($0, $1) }
        if isJSON {
            var writer = JSONWriter()
            let other = against.flatMap { other in second.map { (tuning: other.name, nights: $0) } }
            writer.value(
                ReplayJSON.value(
                    slate: summary, runs: [(tuning: tuning.name, nights: first)] + (other.map { [$0] } ?? []),
                    comparisons: comparisons))
            return say(String(decoding: writer.bytes, as: UTF8.self))
        }
        let text = ReplayText(names: GameNames(slate.lines))
        var lines = [heading]
        if let against {
            for comparison in comparisons {
                lines += text.lines(of: comparison, first: tuning.name, second: against.name)
            }
        } else {
            for night in first { lines += text.lines(of: night) }
        }
        say(lines.joined(separator: "\n"))
    }

    private var heading: String {
        let clock = LocalClock(zone: .utc)
        let span = [summary.from, summary.to].compactMap { $0 }.map { "\(clock.day($0)) \(clock.time($0))" }
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        return
            "\(summary.file): \(counted(summary.games, "game")), \(counted(summary.lines, "line")), \(span.joined(separator: " to ")) UTC"
            + (tuning.name == ReplayRun.defaults || against != nil ? "" : ", tuned by \(tuning.name)")
    }

    private static let defaults = "defaults"

    /// - Parameter path: `nil` for the defaults.
    private static func tuning(_ path: String?) throws(WrongUse) -> (name: String, values: Tuning) {
        guard let path else { return (defaults, Tuning()) }
        let bytes = try readBytes(of: path)
        do throws(TuningTextFault) {
            return (path, try TuningText.read(bytes))
        } catch {
            throw WrongUse("\(path):\(error)")
        }
    }

    /// In the order in which the slate names them.
    private static func gamesInOrder(_ lines: [SlateLine]) -> [GameID] {
        var seen: Set<GameID> = []
        return lines.map(\.game).filter { seen.insert($0).inserted }
    }
}
