import CardRules
import Foundation
import Intake
import Simulation

/// The games of a demo: a recorded night or a made-up one, as the ticks in which its lines come.
struct DemoNight: Sendable {
    struct Tick: Sendable {
        let at: WallTime
        let lines: [SlateLine]
    }

    let ticks: [Tick]
    let games: Int
    let lines: Int
    /// Lines of the file that could not be used.
    let rejected: Int
    /// One line a fault, for people: `file:line: what is wrong`. Of very many the first only.
    let faults: [String]

    /// - Throws: `WrongUse` for a file that is not there or has no usable line.
    init(_ options: DemoOptions) throws(WrongUse) {
        guard let path = options.slateFile else {
            self.init(NightGenerator(seed: options.seed, announcedAt: DemoNight.madeUpAt).lines())
            return
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw WrongUse("\(path) cannot be read: is there such a file?")
        }
        let text: SlateText
        do {
            text = try SlateText([UInt8](data).span)
        } catch {
            throw WrongUse("\(path): \(error)")
        }
        var faults = text.rejected.map { "\(path):\($0.number): \($0.fault)" }
        if text.rejectedCount > text.rejected.count {
            faults.append("\(path): \(text.rejectedCount) lines in all cannot be used, of which these are the first")
        }
        self.init(text.lines.map(\.line), faults: faults, rejected: text.rejectedCount)
    }

    /// - Parameter all: at least one line; lines of one time that follow each other are one tick.
    init(_ all: [SlateLine], faults: [String] = [], rejected: Int = 0) {
        var ticks: [Tick] = []
        var gathered: [SlateLine] = []
        for line in all {
            if let first = gathered.first, first.at != line.at {
                ticks.append(Tick(at: first.at, lines: gathered))
                gathered = []
            }
            gathered.append(line)
        }
        if let first = gathered.first { ticks.append(Tick(at: first.at, lines: gathered)) }
        self.ticks = ticks.sorted { $0.at < $1.at }
        self.faults = faults
        self.rejected = rejected
        lines = all.count
        games = Set(all.map(\.game)).count
    }

    /// When a made-up night is announced: a Saturday in November, 18:30 in New York.
    static let madeUpAt = WallTime(seconds: 1_794_699_000)
}
