import CardRules
import Simulation

/// The games of a demo: a recorded night or a made-up one, as the ticks in which its lines come.
struct DemoNight: Sendable {
    let ticks: [SlateTick]
    let games: Int
    let lines: Int
    /// Lines of the file that could not be used.
    let rejected: Int
    /// One line a fault, for people.
    let faults: [String]

    /// - Throws: `WrongUse` for a file that is not there or has no usable line.
    init(_ options: DemoOptions) throws(WrongUse) {
        guard let path = options.slateFile else {
            self.init(NightGenerator(seed: options.seed, announcedAt: DemoNight.madeUpAt).lines())
            return
        }
        let file = try SlateFile(path: path)
        self.init(file.lines, faults: file.faults, rejected: file.rejected)
    }

    /// - Parameter all: at least one line; lines of one time that follow each other are one tick.
    init(_ all: [SlateLine], faults: [String] = [], rejected: Int = 0) {
        ticks = SlateTick.ticks(of: all)
        self.faults = faults
        self.rejected = rejected
        lines = all.count
        games = Set(all.map(\.game)).count
    }

    /// Without a game announced there is nothing to play, and no time to begin at.
    var announcesGames: Bool {
        ticks.contains { $0.lines.contains { if case .game = $0 { true } else { false } } }
    }

    /// When a made-up night is announced: a Saturday in November, 18:30 in New York.
    static let madeUpAt = WallTime(seconds: 1_794_699_000)
}
