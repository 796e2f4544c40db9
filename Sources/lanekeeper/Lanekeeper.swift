import Foundation
import Operations
import Simulation
import TLS

/// The command line. Results on standard output, everything else on standard error; exit 0 done, 1 found a fault or
/// could not start, 2 wrong use.
@main
struct Lanekeeper {
    private static let usage = """
        lanekeeper COMMAND

          demo    a night of games through the whole system, to simulated phones (lanekeeper demo --help)
          serve   the daemon (lanekeeper serve --help)
          check   tries out everything that serve will need, without a push
          key     new: makes a key for the HTTP API
          migrate brings the store to this version
          lane    one phone's state, its deadlines, the rule behind each card, its timeline
          probe   five start variants to one phone, and what became of each
          moment  makes a moment of a game up, for some phones
          replay  the rules over a recorded slate, without network or clock (lanekeeper replay --help)
          simulate whole days of the system from seeds, with everything going wrong (lanekeeper simulate --help)
          lint    checks Live Activity payloads against the rules and iOS's
          tuning  check: compares values copied into an app's source with the rules' own
          gateway the simulated APNs gateway alone, for any client (lanekeeper gateway --help)
        """

    nonisolated static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case nil, "--help", "-h", "help":
            say(usage)
            exit(arguments.isEmpty ? 2 : 0)
        case "demo":
            exit(await demo(Array(arguments.dropFirst())))
        case "serve":
            exit(await configured(arguments, ServeRun.usage) { try await ServeRun($0).run() })
        case "check":
            exit(
                await configured(arguments, CheckCommand.usage) { words in
                    let (lines, code) = try await CheckCommand(words).run()
                    for line in lines { say(line) }
                    return code
                })
        case "migrate":
            exit(
                await configured(arguments, MigrateCommand.usage) { words in
                    say(try await MigrateCommand(words).run())
                    return 0
                })
        case "key":
            exit(
                await configured(arguments, KeyCommand.usage) { words in
                    for line in try KeyCommand(words).lines(secret: try SecureRandom.bytes(32)) { say(line) }
                    return 0
                })
        case "lane":
            exit(
                await configured(arguments, LaneCommand.usage) { words in
                    for line in try await LaneCommand(words).run() { say(line) }
                    return 0
                })
        case "moment":
            exit(
                await configured(arguments, MomentCommand.usage) { words in
                    for line in try await MomentCommand(words).run() { say(line) }
                    return 0
                })
        case "probe":
            exit(
                await configured(arguments, ProbeCommand.usage) { words in
                    StopSignals.note()
                    let (lines, code) = try await ProbeCommand(words).run(clock: MachineClock()) { complain($0) }
                    for line in lines { say(line) }
                    return code
                })
        case "replay":
            exit(replay(Array(arguments.dropFirst())))
        case "lint":
            exit(lint(Array(arguments.dropFirst())))
        case "tuning":
            exit(tuning(Array(arguments.dropFirst())))
        case "simulate":
            exit(
                await configured(arguments, SimulateOptions.usage) { words in
                    await SimulateRun(options: try SimulateOptions(words)).run()
                })
        case "gateway":
            exit(await gateway(Array(arguments.dropFirst())))
        case TerminalGuard.command:
            exit(TerminalGuard.serve(Array(arguments.dropFirst())))
        case .some(let command):
            complain("\(command) is no command; see lanekeeper --help")
            exit(2)
        }
    }

    /// A command that reads the configuration: each of its faults is a line.
    private static func configured(
        _ arguments: [String], _ usage: String, _ run: ([String]) async throws -> Int32
    ) async -> Int32 {
        let words = Array(arguments.dropFirst())
        if Arguments.askForHelp(words) {
            say(usage)
            return 0
        }
        do {
            return try await run(words)
        } catch let wrong as WrongUse {
            complain(wrong.text)
            return 2
        } catch let error as ConfigurationFaults {
            for fault in error.faults { complain("\(fault)") }
            return 1
        } catch {
            complain("\(error)")
            return 1
        }
    }

    private static func lint(_ arguments: [String]) -> Int32 {
        if Arguments.askForHelp(arguments) {
            say(LintCommand.usage)
            return 0
        }
        do throws(WrongUse) {
            let (lines, code) = try LintCommand(arguments).run()
            for line in lines { say(line) }
            return code
        } catch {
            complain(error.text)
            return 2
        }
    }

    private static func tuning(_ arguments: [String]) -> Int32 {
        if Arguments.askForHelp(arguments) {
            say(TuningCheckCommand.usage)
            return 0
        }
        do throws(WrongUse) {
            let (lines, remark, code) = try TuningCheckCommand(arguments).run()
            for line in lines { say(line) }
            if let remark { complain(remark) }
            return code
        } catch {
            complain(error.text)
            return 2
        }
    }

    private static func demo(_ arguments: [String]) async -> Int32 {
        if Arguments.askForHelp(arguments) {
            say(DemoOptions.usage)
            return 0
        }
        do {
            let options = try DemoOptions(arguments)
            let night = try DemoNight(options)
            for fault in night.faults { complain(fault) }
            guard night.announcesGames else {
                throw WrongUse("no game is announced: scores count once their game has a line of type game")
            }
            return try await DemoRun(options: options, night: night).run()
        } catch let wrong as WrongUse {
            complain(wrong.text)
            return 2
        } catch let refused as SocketError where refused.isAddressInUse {
            complain("\(refused)")
            return 2
        } catch {
            complain("\(error)")
            return 1
        }
    }

    private static func gateway(_ arguments: [String]) async -> Int32 {
        if Arguments.askForHelp(arguments) {
            say(GatewayCommandOptions.usage + GatewayControl.usage)
            return 0
        }
        do {
            return try await GatewayRun(options: GatewayCommandOptions(arguments)).run()
        } catch let wrong as WrongUse {
            complain(wrong.text)
            return 2
        } catch {
            complain("\(error)")
            return 1
        }
    }

    private static func replay(_ arguments: [String]) -> Int32 {
        if Arguments.askForHelp(arguments) {
            say(ReplayOptions.usage)
            return 0
        }
        do throws(WrongUse) {
            let replay = try ReplayRun(try ReplayOptions(arguments))
            for fault in replay.faults { complain(fault) }
            replay.run()
            return 0
        } catch {
            complain(error.text)
            return 2
        }
    }
}
