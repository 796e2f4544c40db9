import CardRules
import Intake
import Lanes
import Measuring
import Simulation

/// What a million deadlines cost, and how a wave of reissues is spread (R7).
struct Deadlines: Sendable {
    private let options: Options
    private let armed: Int
    private let wave: Int
    private let rounds: Int

    init(_ options: Options) {
        self.options = options
        armed = options.sizes?.first ?? (options.isQuick ? 100_000 : 1_000_000)
        wave = options.sizes?.last ?? (options.isQuick ? 10_000 : 100_000)
        rounds = options.isQuick ? 2 : 5
    }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        report.conditions = [
            "\(grouped(armed)) deadlines within the night, one a lane, at random from a seed; \(rounds) rounds, medians",
            "floor: as many random writes of 8 bytes into an array of one word a lane",
            "the wave: \(grouped(wave)) cards that came due while the server was down, \(Int(Tuning().reissue.perSecond)) a "
                + "second; time passes as the lanes ask for it, starts are accepted at once",
        ]
        wheel(&report)
        let (wave, seed) = (wave, options.seed)
        say("deadlines: a wave of \(grouped(wave)) reissues")
        let outcome = try blocking { try await ReissueWave(phones: wave, seed: seed).run() }
        add(outcome, to: &report)
        return report
    }

    // MARK: - The wheel

    private struct Round {
        var arm = 0.0
        var move = 0.0
        var clear = 0.0
        var fire = 0.0
        var floor = 0.0
        var worstStep = 0.0
        var bytes = 0.0
    }

    private func wheel(_ report: inout Report) {
        var taken: [Round] = []
        for _ in 0..<rounds + 1 { taken.append(once(seed: options.seed &+ UInt64(taken.count))) }
        taken.removeFirst()  // warms up
        let each = { (value: (Round) -> Double) in median(taken.map(value)) }
        var table = Table(
            "The wheel, \(grouped(armed)) lanes", ["what", "CPU ns each", "to a random write"])
        let floor = each { $0.floor }
        let rows: [(String, String, (Round) -> Double)] = [
            ("arm", "arm", { $0.arm }), ("move", "move", { $0.move }), ("clear", "clear", { $0.clear }),
            ("fire", "fire", { $0.fire }),
        ]
        for (name, key, value) in rows {
            let ratio = median(taken.map { value($0) / $0.floor })
            table.rows.append([name, shown(each(value)), shown(ratio)])
            report.figure("\(key)-over-random-write", ratio, .ratio)
        }
        table.rows.append(["a random write", shown(floor), "1"])
        report.tables.append(table)
        report.figure("bytes-per-deadline", each { $0.bytes }, .bytes)
        report.figure("worst-step-ms", taken.map(\.worstStep).max() ?? 0, .time)
        report.findings.append(
            "A deadline takes \(shown(each { $0.bytes })) bytes a lane, the wheel's own 2.2 MB left out. The longest step of a "
                + "tenth of a second took \(shown(taken.map(\.worstStep).max() ?? 0)) ms in any round.")
    }

    private func once(seed: UInt64) -> Round {
        var random = SeededGenerator(seed: seed)
        let evening = MadeUpSlate.evening
        let night = 12.0 * 3600
        let times = (0..<2 * armed).map { _ in
            evening.advanced(bySeconds: Double.random(in: 1..<night, using: &random))
        }
        var order = Array(0..<armed)
        order.shuffle(using: &random)
        var round = Round()
        let perLane = 1e9 / Double(armed)

        var words = [Int64](repeating: 0, count: armed)
        round.floor = Usage.of { for lane in order { words[lane] = times[lane].milliseconds } }.cpuSeconds * perLane

        var wheel = DeadlineWheel(now: evening)
        let before = Memory.inUseBytes
        wheel.grow(to: armed)
        round.bytes = Double(Memory.inUseBytes - before) / Double(armed)
        round.arm = Usage.of { for lane in order { wheel.arm(lane, at: times[lane]) } }.cpuSeconds * perLane
        round.move = Usage.of { for lane in order { wheel.arm(lane, at: times[armed + lane]) } }.cpuSeconds * perLane
        var fired = 0
        var now = evening
        round.fire =
            Usage.of {
                while let next = wheel.earliest {
                    now = max(next, now.advanced(bySeconds: 0.1))
                    let began = uptimeSeconds()
                    fired += wheel.advance(to: now).count
                    round.worstStep = max(round.worstStep, (uptimeSeconds() - began) * 1e3)
                }
            }.cpuSeconds * perLane
        guard fired == armed else { return Round() }
        let later = now.advanced(bySeconds: 1)
        for lane in order { wheel.arm(lane, at: later.advanced(bySeconds: times[lane].seconds(since: evening))) }
        round.clear = Usage.of { for lane in order { wheel.clear(lane) } }.cpuSeconds * perLane
        return words[0] == 0 ? Round() : round
    }

    // MARK: - The wave

    private func add(_ wave: ReissueWave.Outcome, to report: inout Report) {
        let perSecond = Tuning().reissue.perSecond
        var table = Table("A wave of reissues after a restart", ["what", "value"])
        table.rows = [
            ["phones", grouped(wave.phones)],
            ["starts sent", grouped(wave.starts)],
            ["all sent after, s of the night", shown(wave.seconds)],
            ["most in any second", grouped(wave.mostInASecond)],
            [
                "CPU us a reissue (decide, record, render, hand over, settle)",
                shown(wave.cpuSeconds / Double(wave.starts) * 1e6),
            ],
            ["times that the lanes asked to be woken", grouped(wave.wakes)],
        ]
        report.tables.append(table)
        report.figure("wave.starts-per-phone", Double(wave.starts) / Double(wave.phones), .count)
        report.figure("wave.most-in-a-second-over-pace", Double(wave.mostInASecond) / perSecond, .ratio)
        report.figure("wave.seconds-over-pace", wave.seconds / (Double(wave.phones) / perSecond), .ratio)
        report.figure("wave.cpu-us-per-reissue", wave.cpuSeconds / Double(wave.starts) * 1e6, .time)
        var plot = Plot(
            "deadlines-wave", title: "Starts a second after a restart with \(short(wave.phones)) overdue cards",
            across: .init("seconds"), up: .init("starts in that second"))
        plot.series = [.init("starts", wave.perSecond.enumerated().map { .init(Double($0), Double($1)) })]
        report.plots.append(plot)
    }
}
