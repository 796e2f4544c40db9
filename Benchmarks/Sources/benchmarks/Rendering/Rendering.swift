import CardRules
import Foundation
import Intake
import Measuring
import PushWire
import Simulation

/// Payloads: what one costs that nobody has asked for yet, what one costs that many share, and how many of each a night
/// needs.
struct Rendering: Sendable {
    private let options: Options
    private let rounds: Int

    init(_ options: Options) {
        self.options = options
        rounds = options.isQuick ? 3 : 9
    }

    /// Below what a renderer keeps of one snapshot.
    private static let batch = 3000

    func run(_ empty: Report) throws -> Report {
        var report = empty
        report.conditions = [
            "cards of four games of thirty, \(Rendering.batch) a batch, \(rounds) batches, medians of CPU time on one thread",
            "beside it: Foundation's JSONEncoder on the same values of a card, no headers, no frame",
        ]
        try costs(&report)
        let phones = options.sizes?.first ?? (options.isQuick ? 2000 : 100_000)
        say("rendering: a night of \(grouped(phones)) phones")
        let night = RenderedNight(phones: phones, secondsATick: options.isQuick ? 60 : 300, seed: options.seed).run()
        var table = Table("A night of \(MadeUpSlate.count) made-up games", ["what", "value"])
        table.rows = [
            ["phones", grouped(phones)],
            ["ticks (one in \(night.secondsATick) s, of \(grouped(night.lines)) lines)", grouped(night.ticks)],
            ["pushes", grouped(night.pushes)],
            ["contents rendered", grouped(night.contents)],
            ["distinct payloads", grouped(night.payloads)],
            ["payloads rendered by one renderer", grouped(night.renders)],
            ["distinct payloads a tick, mean", grouped(night.payloads / max(night.ticks, 1))],
            ["pushes that share one payload, mean", shown(Double(night.pushes) / Double(max(night.payloads, 1)))],
            ["most payloads in one tick", grouped(night.mostPayloads)],
            ["bytes of a payload, mean", shown(Double(night.bytes) / Double(max(night.pushes, 1)))],
            ["CPU s, decisions and renders", shown(night.cpuSeconds)],
        ]
        report.tables.append(table)
        report.figure("night.pushes-per-payload", Double(night.pushes) / Double(max(night.payloads, 1)), .ratio)
        report.figure("night.payload-bytes", Double(night.bytes) / Double(max(night.pushes, 1)), .bytes)
        report.figure("night.payloads-per-tick", Double(night.payloads) / Double(max(night.ticks, 1)), .count)
        report.figure("night.renders-over-payloads", Double(night.renders) / Double(max(night.payloads, 1)), .ratio)
        report.figure("night.pushes", Double(night.pushes), .count)
        report.figure("night.pushes-per-phone", Double(night.pushes) / Double(phones), .count)
        return report
    }

    private func costs(_ report: inout Report) throws {
        var slate = Slate(tuning: Tuning())
        var made = MadeUpSlate()
        for line in made.opening() { _ = slate.apply(line, at: line.at) }
        var renderer = PayloadRenderer(profile: LaneSystem.profile)
        var random = SeededGenerator(seed: options.seed)
        let arrangements = (0..<Rendering.batch).map { _ -> SlateArrangement in
            SlateArrangement(games: Array(made.ids.shuffled(using: &random).prefix(4)), spoilerFree: false)
        }
        var cold: [Double] = []
        var warm: [Double] = []
        var encoder: [Double] = []
        var allocations = 0
        var warmAllocations = 0
        var bytes = 0
        for round in 0..<rounds + 1 {
            let now = MadeUpSlate.evening.advanced(bySeconds: Double(round) * 61)
            for line in made.play(0..<MadeUpSlate.count, at: now) { _ = slate.apply(line, at: now) }
            let snapshot = slate.snapshot(at: now)
            let orders = arrangements.map { order($0, at: now) }
            let id = ApnsID(randomHigh: 1, randomLow: 2)
            let isCounting = round == rounds
            if isCounting { Allocations.begin() }
            cold.append(
                Usage.of {
                    for order in orders {
                        bytes += renderer.request(for: order, snapshot: snapshot, id: id)?.payload.count ?? 0
                    }
                }.cpuSeconds)
            if isCounting {
                allocations = Allocations.end().count
                Allocations.begin()
            }
            warm.append(
                Usage.of {
                    for order in orders {
                        bytes += renderer.request(for: order, snapshot: snapshot, id: id)?.payload.count ?? 0
                    }
                }.cpuSeconds)
            if isCounting { warmAllocations = Allocations.end().count }
            encoder.append(try encode(arrangements, snapshot))
        }
        let each = { (seconds: [Double]) in median(Array(seconds.dropFirst())) / Double(Rendering.batch) * 1e9 }
        let (coldNs, warmNs, encoderNs) = (each(cold), each(warm), each(encoder))
        guard bytes > 0, coldNs > 0, warmNs > 0 else { throw Failure("nothing was rendered") }
        var table = Table("One payload", ["what", "CPU ns", "a second and core", "to JSONEncoder", "allocations"])
        let batch = Double(Rendering.batch)
        table.rows = [
            [
                "rendered anew", shown(coldNs), grouped(Int(1e9 / coldNs)), shown(coldNs / encoderNs),
                shown(Double(allocations) / batch),
            ],
            [
                "asked for again", shown(warmNs), grouped(Int(1e9 / warmNs)), shown(warmNs / encoderNs),
                shown(Double(warmAllocations) / batch),
            ],
            ["JSONEncoder", shown(encoderNs), grouped(Int(1e9 / encoderNs)), "1", "-"],
        ]
        report.tables.append(table)
        report.figure("anew-over-jsonencoder", coldNs / encoderNs, .ratio)
        report.figure("again-over-anew", warmNs / coldNs, .ratio)
        report.figure("allocations-anew", Double(allocations) / batch, .count)
        report.figure("allocations-again", Double(warmAllocations) / batch, .count)
        report.figure("payloads-per-second", 1e9 / coldNs, .time)
    }

    private func order(_ arrangement: SlateArrangement, at now: WallTime) -> PushOrder {
        PushOrder(
            number: PushNumber(1), key: .slate, address: PushAddress(token: [1, 2, 3], gateway: .production),
            priority: .conserving, timestamp: now.unixSeconds, expiration: now.unixSeconds + 600, relevance: 71,
            content: arrangement, kind: .update(staleDate: now.unixSeconds + 600))
    }

    private struct CardValues: Encodable {
        struct Game: Encodable {
            let id, home, away, phase: String
            let score: [Int]
            let period: Int?
            let clock: String?
        }
        let asOf: Int64
        let games: [Game]
    }

    private func encode(_ arrangements: [SlateArrangement], _ snapshot: SlateSnapshot) throws -> Double {
        let values = arrangements.map { arrangement in
            CardValues(
                asOf: snapshot.asOf.unixSeconds,
                games: arrangement.games.compactMap { snapshot.game($0) }.map { game in
                    CardValues.Game(
                        id: game.id.text, home: game.home, away: game.away, phase: game.phase.rawValue,
                        score: [game.homeScore, game.awayScore], period: game.period, clock: game.clock)
                })
        }
        let encoder = JSONEncoder()
        var bytes = 0
        let took = try Usage.of { for value in values { bytes += try encoder.encode(value).count } }
        guard bytes > 0 else { throw Failure("nothing was encoded") }
        return took.cpuSeconds
    }
}
