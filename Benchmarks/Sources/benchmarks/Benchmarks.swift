import Foundation
import Measuring

/// One benchmark a run; `Benchmarks/run` runs them all.
@main struct Benchmarks {
    static let usage = """
        benchmarks: what the program costs, measured on its own code

          benchmarks NAME [options]

        \(Benchmark.all.map { "  \($0.name.padding(toLength: 14, withPad: " ", startingAt: 0))\($0.subject)" }
            .joined(separator: "\n"))

          --json            figures as JSON instead of a table
          --out FOLDER      writes NAME.json, NAME.md and the plots there as well
          --check FILE      compares ratios, bytes and counts with FILE; exit status 3 when one is broken
          --quick           small sizes and few rounds: to see that it works
          --sizes N,...     these sizes instead of its own (store: --sizes 1000000)
          --only PART       one part of it (store: commits, restarts, nodes)
          --program FILE    the lanekeeper program, for benchmarks that run it as a process of its own

        """

    static func main() {
        // Programs and stores that go away meanwhile are no reason to end.
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.isHelp else { return print(usage, terminator: "") }
            guard !options.isNames else { return print(Benchmark.all.map(\.name).joined(separator: "\n")) }
            guard let benchmark = Benchmark.all.first(where: { $0.name == options.name }) else {
                throw WrongUse("\(options.name) is no benchmark; see --help")
            }
            if benchmark.countsMemory { Memory.useOneArena() }
            let report = try benchmark.run(benchmark, options)
            print(options.isJSON ? try report.json() : report.markdown())
            if let folder = options.out { try write(report, to: folder) }
            if let file = options.check {
                let broken = try Thresholds.read(file).broken(by: report)
                for words in broken { say("BROKEN \(words)") }
                if !broken.isEmpty { exit(3) }
                say("\(benchmark.name): every threshold holds")
            }
        } catch let skipped as Skipped {
            say("skipped: \(skipped)")
        } catch {
            say("\(error)")
            exit(error is WrongUse ? 2 : 1)
        }
    }

    private static func write(_ report: Report, to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let files =
            [("\(report.benchmark).json", try report.json()), ("\(report.benchmark).md", report.markdown())]
            + report.plots.map { ("\($0.name).svg", $0.svg()) }
        for (name, text) in files { try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8) }
    }
}

/// Something that can be measured by name.
struct Benchmark: Sendable {
    let name: String
    let subject: String
    /// Bytes are counted in it.
    var countsMemory = false
    let run: @Sendable (Benchmark, Options) throws -> Report

    func report() -> Report { Report(name, subject: subject) }

    static let all: [Benchmark] = [
        Benchmark(name: "tick-latency", subject: "from a tick to the last lane decided and the last push handed over") {
            try TickLatency($1).run($0.report())
        },
        Benchmark(name: "memory", subject: "bytes of a lane, of a push under way, of a deadline", countsMemory: true) {
            try MemoryUse($1).run($0.report())
        },
        Benchmark(
            name: "deadlines", subject: "a million deadlines armed, moved, fired; a wave of reissues, paced",
            countsMemory: true
        ) {
            try Deadlines($1).run($0.report())
        },
        Benchmark(name: "rendering", subject: "payloads a second, and how many a night of many phones needs") {
            try Rendering($1).run($0.report())
        },
        Benchmark(name: "store", subject: "lanes made durable a second by batch size, and restarts, on both stores") {
            try Stores($1).run($0.report())
        },
        Benchmark(name: "intake", subject: "slate lines a second, and calls over HTTP beside a static answer") {
            try IntakeRates($1).run($0.report())
        },
        Benchmark(name: "tick-to-apns", subject: "from a tick over HTTP to the last phone, with everything real") {
            try TickToApns($1).run($0.report())
        },
        Benchmark(name: "recovery", subject: "lanes killed a second while ticks flow, and what others notice") {
            try Recovery($1).run($0.report())
        },
    ]
}

/// To standard error: standard output is the report's.
func say(_ words: String) { FileHandle.standardError.write(Data("benchmarks: \(words)\n".utf8)) }
