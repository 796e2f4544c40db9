import Foundation
import Glibc

/// Compares the push pool with `h2load` against one gateway: requests per CPU second of the client, and bytes written per
/// request. Each round runs both, one after the other, as processes of their own that send the same requests.
@main struct PushThroughput {
    static let usage = """
        push-throughput: the push pool and h2load against one gateway, by turns

          --port PORT           where the gateway listens, on 127.0.0.1
          --certificate FILE    what it shows
          --provider-key FILE   signs the provider token, with --key-id and --team-id
          --pushes N            a round and client (default 200000)
          --connections N       (default 4)
          --streams N           in flight on one connection at most (default 100)
          --rounds N            (default 5)
          --h2load PROGRAM      (default h2load)
          --json                figures as JSON instead of a table
          --out FOLDER          writes push-throughput.json and .md there as well
          --check FILE          compares with FILE; exit status 3 when a threshold is broken
          --quick               few pushes, one round
          --peer NAME           a third client, by --peer-program and the --peer-script that it runs
          --alone               pushes once through the pool and ends: for a profiler

        """

    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.isHelp { return print(usage, terminator: "") }
            if options.isAlone {
                try PoolRun(options).run()
            } else {
                let rounds = try Comparison(options).run()
                let report = Report(rounds, options)
                print(options.isJSON ? try report.json() : report.table())
                try report.write(to: options.out)
                if try !report.holds(options.check) { exit(3) }
            }
        } catch {
            FileHandle.standardError.write(Data("push-throughput: \(error)\n".utf8))
            exit(error is WrongUse ? 2 : 1)
        }
    }
}

struct WrongUse: Error, CustomStringConvertible {
    let description: String
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}
