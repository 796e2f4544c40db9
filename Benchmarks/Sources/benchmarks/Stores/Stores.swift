import Foundation
import LaneStore
import Lanes
import Measuring
import Postgres
import PrivatePostgres

/// What it costs to make lanes durable, by how many share a transaction, and how fast they are read again.
struct Stores: Sendable {
    private let options: Options
    private let restartSizes: [Int]
    private let nodeSizes: [Int]
    private let batches: [Int]
    private let rounds: Int

    init(_ options: Options) {
        self.options = options
        restartSizes = options.sizes ?? (options.isQuick ? [10_000] : [100_000, 1_000_000])
        nodeSizes = options.sizes ?? (options.isQuick ? [10_000] : [100_000])
        batches = options.isQuick ? [10, 1000] : [1, 10, 100, 1000, 10_000]
        rounds = options.isQuick ? 1 : 3
    }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        let (options, restartSizes, nodeSizes, batches, rounds) = (options, restartSizes, nodeSizes, batches, rounds)
        let takesPart = { @Sendable (part: String) in options.only.map { $0 == part } ?? true }
        let made = try blocking { () -> ([CommitRun.Outcome], [RestartRun.Outcome], [NodeRun.Outcome], [String]) in
            let folder = try StoreFolder()
            defer { folder.remove() }
            var commits: [CommitRun.Outcome] = []
            var restarts: [RestartRun.Outcome] = []
            var nodes: [NodeRun.Outcome] = []
            var left: [String] = []
            for kind in StoreKind.allCases {
                let place: StorePlace
                do { place = try await StorePlace(kind, folder) } catch let fault as ClusterFault {
                    left.append("\(kind.rawValue) left out: \(fault.what)")
                    continue
                }
                if takesPart("commits") {
                    let run = CommitRun(
                        place: place, lanes: restartSizes[0], batches: batches, rounds: rounds, seed: options.seed)
                    commits += try await run.run()
                }
                for size in restartSizes where takesPart("restarts") {
                    restarts.append(try await RestartRun(place: place, lanes: size, seed: options.seed).run())
                }
                for size in nodeSizes where takesPart("nodes") {
                    nodes.append(try await NodeRun(place: place, lanes: size, seed: options.seed).run())
                }
            }
            return (commits, restarts, nodes, left)
        }
        report.conditions =
            [
                "\(LaneSystem.shards) shards, each with one commit under way, as the lanes do it; lanes with a card, all known to "
                    + "the store before; \(rounds) rounds, medians",
                "PostgreSQL 15 on this machine by a loopback port, flushing to disk; SQLite in a file beside it",
                "floor: 600 bytes a row written to one file that has the room, and one fdatasync a commit",
                "nodes: as `serve` makes them, one process, 4,000 callers register; the second node of a cluster is in the same "
                    + "process and is given half",
            ] + made.3
        report.tables = [commitTable(made.0), restartTable(made.1), nodeTable(made.2), handOverTable(made.2)]
            .filter { !$0.rows.isEmpty }
        for commit in made.0 {
            let key = "\(commit.kind.key).\(commit.batch)"
            report.figure("rows-per-second.\(key)", commit.rowsPerSecond, .time)
            report.figure("rows-over-floor.\(key)", commit.rowsPerSecond / commit.floorRowsPerSecond, .ratio)
        }
        for kind in StoreKind.allCases {
            let own = made.0.filter { $0.kind == kind }
            guard let one = own.first, let large = own.first(where: { $0.batch == 1000 }) else { continue }
            report.figure(
                "cpu-gain.\(kind.key)", one.cpuMicrosecondsPerRow / large.cpuMicrosecondsPerRow, .ratio)
        }
        for restart in made.1 {
            report.figure(
                "restart-lanes-per-second.\(restart.kind.key).\(restart.lanes)",
                Double(restart.lanes) / restart.seconds, .time)
            report.figure("bytes-per-lane-on-disk.\(restart.kind.key)", restart.diskBytesPerLane, .bytes)
        }
        for node in made.2 {
            report.figure("registrations-per-second.\(node.kind.key).\(node.lanes)", node.registered, .time)
            report.figure("seconds-to-first-push.\(node.kind.key).\(node.lanes)", node.firstPushSeconds, .time)
        }
        if !made.0.isEmpty { report.plots = [plot(made.0)] }
        return report
    }

    private func commitTable(_ outcomes: [CommitRun.Outcome]) -> Table {
        var table = Table(
            "Lanes made durable",
            [
                "store, lanes a commit", "rows a second", "to the floor", "commit p50 ms", "p99", "CPU us a row, ours",
                "the server's",
            ])
        for one in outcomes {
            table.rows.append([
                "\(one.kind.rawValue), \(grouped(one.batch))", shown(one.rowsPerSecond),
                shown(one.rowsPerSecond / one.floorRowsPerSecond), shown(one.commitSeconds.p50 * 1e3),
                shown(one.commitSeconds.p99 * 1e3), shown(one.cpuMicrosecondsPerRow),
                one.serverMicrosecondsPerRow.map { shown($0) } ?? "-",
            ])
        }
        return table
    }

    private func restartTable(_ outcomes: [RestartRun.Outcome]) -> Table {
        var table = Table(
            "A restart: every lane read and put in its place",
            [
                "store, lanes", "seconds", "lanes a second", "CPU us a lane, ours", "the server's",
                "bytes a lane on disk",
            ])
        for one in outcomes {
            table.rows.append([
                "\(one.kind.rawValue), \(short(one.lanes))", shown(one.seconds), shown(Double(one.lanes) / one.seconds),
                shown(one.cpuSeconds / Double(one.lanes) * 1e6),
                one.serverCPUSeconds.map { shown($0 / Double(one.lanes) * 1e6) } ?? "-", shown(one.diskBytesPerLane),
            ])
        }
        return table
    }

    private func nodeTable(_ outcomes: [NodeRun.Outcome]) -> Table {
        var table = Table(
            "A node: phones that register, and a start on what another node left",
            [
                "store, lanes", "registered a second", "bytes a phone on disk", "first push, s", "all lanes, s",
                "lanes a second", "bytes a lane on disk", "in memory", "at worst",
            ])
        for one in outcomes {
            table.rows.append([
                "\(one.kind.rawValue), \(short(one.lanes))", shown(one.registered), shown(one.registeredBytes),
                shown(one.firstPushSeconds), shown(one.allSeconds), shown(Double(one.lanes) / one.allSeconds),
                shown(one.diskBytes), shown(one.memoryBytes), shown(one.worstBytes),
            ])
        }
        return table
    }

    private func handOverTable(_ outcomes: [NodeRun.Outcome]) -> Table {
        var table = Table(
            "A second node is given half",
            ["lanes of which half move", "seconds", "lanes a second", "a partition without lanes, p50 s", "worst"])
        for one in outcomes {
            guard let handOver = one.handOver else { continue }
            table.rows.append([
                short(one.lanes), shown(handOver.seconds), shown(Double(handOver.lanes) / handOver.seconds),
                shown(handOver.gapSeconds.p50), shown(handOver.gapSeconds.max),
            ])
        }
        return table
    }

    private func plot(_ outcomes: [CommitRun.Outcome]) -> Plot {
        var plot = Plot(
            "store-commits", title: "Lanes made durable a second", across: .init("lanes a commit", .logarithmic),
            up: .init("rows a second", .logarithmic))
        for kind in StoreKind.allCases {
            let own = outcomes.filter { $0.kind == kind }
            guard !own.isEmpty else { continue }
            plot.series.append(.init(kind.rawValue, own.map { .init(Double($0.batch), $0.rowsPerSecond) }))
        }
        let floor = outcomes.filter { $0.kind == .sqlite }
        plot.series.append(
            .init("floor", floor.map { .init(Double($0.batch), $0.floorRowsPerSecond) }, isReference: true))
        return plot
    }
}
