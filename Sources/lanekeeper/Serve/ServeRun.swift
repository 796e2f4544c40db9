import Foundation
import Operations
import TLS

/// `lanekeeper serve`: the daemon, from its configuration to its exit code.
struct ServeRun: Sendable {
    let options: ConfiguredOptions

    static let usage = """
        lanekeeper serve: the daemon

          Prints its address when it listens. SIGTERM or SIGINT stop it in order, a second one at once; SIGHUP reads the
          configuration again, applies what can change and logs what cannot. Tells systemd how it stands.

        \(ConfiguredOptions.usage)
          --migrate               brings the store to this version first; on SQLite it does so anyway
        """

    init(_ words: [String]) throws(WrongUse) {
        options = try ConfiguredOptions(words, of: "serve", flags: ["--migrate"])
    }

    /// - Returns: the exit code.
    /// - Throws: `ConfigurationFaults`, `WrongUse` for a file that cannot be read, `SocketError` when the system gives no
    ///   thread or socket.
    func run() async throws -> Int32 {
        // First of all: a SIGHUP that comes while it starts must not be its end.
        let (signals, tell) = AsyncStream.makeStream(of: LifeCycle.Signal.self)
        let caught = try ProcessSignals { kind in
            switch kind {
            case .stop: tell.yield(.stop)
            case .reload: tell.yield(.reload)
            }
        }
        let read = try options.read()
        let clock = MachineClock()
        let log = try Log(
            level: read.configuration.log.level, format: read.configuration.log.format,
            isTerminal: isatty(STDERR_FILENO) == 1, clock: clock
        ) { bytes in
            try? FileHandle.standardError.write(contentsOf: bytes)
        }
        let service = try ServiceNotifier(
            environment: ProcessInfo.processInfo.environment, processID: ProcessInfo.processInfo.processIdentifier)
        log.info("starting", [.version: .text(programVersion)])
        for remark in read.remarks {
            log.warning("a variable of the environment sets nothing", [.detail: .text(remark)])
        }

        var surroundings = DaemonSurroundings()
        surroundings.migratesStore = options.flags.contains("--migrate")
        let daemon = Daemon(configuration: read.configuration, log: log, surroundings: surroundings)
        let deadline = DeadlineOfStop(log: log)
        let life = LifeCycle(
            parts: daemon.parts(of: read.configuration), clock: clock, log: log, service: service,
            watchdog: { await daemon.answers() },
            reload: { await reload(daemon) },
            stageChanged: { stage in
                daemon.status.change(to: stage)
                if stage == .stopping { deadline.begin() }
            })
        let end = await life.run(signals: signals)
        await deadline.callOff()
        withExtendedLifetime(caught) {}
        let code: Int32 = end == .stopped ? 0 : 1
        let last = LastWords(code: code)
        switch end {
        case .stopped: log.info("stopped")
        case .failed(let part, let reason): complain("\(part): \(reason)")
        }
        await log.close()
        await last.said()
        return code
    }

    private func reload(_ daemon: Daemon) async {
        do {
            let read = try options.read()
            await daemon.apply(read.configuration)
        } catch {
            let detail = (error as? WrongUse)?.text ?? "\(error)"
            daemon.log.error(
                "the configuration cannot be read again; the one in use stays", [.detail: .text(detail)])
        }
    }
}
