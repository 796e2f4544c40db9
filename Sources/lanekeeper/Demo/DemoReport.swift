import CardRules
import Foundation
import Simulation

/// What a night came to: the JSON of `--report`, and the summary for people.
struct DemoReport: Encodable {
    let phones: Int
    let games: Int
    let lines: Int
    /// Of the slate's file, not among `lines`.
    let rejectedLines: Int
    /// Whether the whole night was played; not part of the JSON.
    private let isWhole: Bool
    private let leftAt: String
    let virtualSeconds: Int
    let wallSeconds: Double
    let pushes: [String: Int]
    let refused: [String: Int]
    let unknown: Int
    let cards: [String: Int]
    private let storeFailures: Int
    private let byHand: (kills: Int, moments: Int)
    private let notSent: Int
    private let withheld: [String: Int]
    let frontChanges: Int
    let fronted: [String: [String]]
    let violations: [String: Int]

    init(
        phones: Int, night: DemoNight, played: NightPlayer, leftAt: WallTime, virtualSeconds: Double,
        wallSeconds: Double, counts: DemoTrace.Counts, judged: JudgeReport
    ) {
        self.phones = phones
        games = night.games
        lines = played.linesPlayed
        isWhole = leftAt >= played.end
        self.leftAt = clockText(leftAt)
        rejectedLines = night.rejected
        self.virtualSeconds = Int(virtualSeconds)
        self.wallSeconds = (wallSeconds * 100).rounded() / 100
        pushes = Dictionary(uniqueKeysWithValues: PushEvent.allCases.map { ($0.rawValue, counts.sent[$0] ?? 0) })
        refused = counts.refused
        unknown = counts.unknown
        cards = [
            "shown": judged.tally.startedByPush + judged.tally.startedByApp,
            "ended": judged.tally.ended.values.reduce(0, +), "standing": judged.standing,
        ]
        storeFailures = counts.storeFailures
        byHand = (counts.restarted, judged.tally.madeUpMoments)
        notSent = counts.notSent
        withheld = Dictionary(uniqueKeysWithValues: counts.withheld.map { ($0.key.rawValue, $0.value) })
        frontChanges = judged.tally.frontChanges
        fronted = Dictionary(
            uniqueKeysWithValues: judged.fronted.map { ($0.key.rawValue, $0.value.games.map(\.text)) })
        violations = Dictionary(
            uniqueKeysWithValues: Invariant.allCases.map { ($0.rawValue, judged.counts[$0] ?? 0) })
    }

    private enum CodingKeys: String, CodingKey {
        case phones, games, lines, rejectedLines, virtualSeconds, wallSeconds, pushes, refused, unknown, cards
        case frontChanges, fronted, violations
    }

    var hasViolations: Bool { violations.values.contains { $0 > 0 } }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The summary for people.
    func summary(first: [Violation]) -> String {
        func list(_ counts: [String: Int]) -> String {
            counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
        var lines = [
            "" as String?,
            isWhole ? "The night is over:" : "Left at \(leftAt), before the night was over:",
            "  played       \(games) games, \(self.lines) lines, \(virtualSeconds / 3600) h \(virtualSeconds % 3600 / 60) min in \(wallSeconds) s",
            "  rejected     \(rejectedLines == 0 ? "none" : rejectedLines == 1 ? "1 line" : "\(rejectedLines) lines") of the slate",
            "  phones       \(phones)",
            "  pushes       start \(pushes["start"] ?? 0), update \(pushes["update"] ?? 0), end \(pushes["end"] ?? 0)",
            "  refused      \(refused.isEmpty ? "none" : list(refused)); unknown \(unknown), not sent \(notSent)",
            "  withheld     \(withheld.isEmpty ? "no start" : "starts, by rule: \(list(withheld))")",
            storeFailures == 0 ? nil : "  store        failed \(storeFailures) times",
            "  cards        shown \(cards["shown"] ?? 0), ended \(cards["ended"] ?? 0), standing \(cards["standing"] ?? 0)",
            "  front        changed \(frontChanges) times",
            byHand == (0, 0) ? nil : "  by hand      lanes killed \(byHand.kills), moments made up \(byHand.moments)",
        ].compactMap { $0 }
        for (kind, games) in fronted.sorted(by: { $0.key < $1.key }) {
            lines.append("  in front in \(kind): \(games.isEmpty ? "none" : games.joined(separator: ", "))")
        }
        lines.append("  violations   \(hasViolations ? list(violations) : "none")")
        lines += first.map { "    \($0)" }
        return lines.joined(separator: "\n")
    }
}

/// Hours and minutes, for people.
func clockText(_ time: WallTime) -> String {
    let seconds = time.unixSeconds % 86_400
    let parts = [seconds / 3600, seconds % 3600 / 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return parts.joined(separator: ":") + " UTC"
}
