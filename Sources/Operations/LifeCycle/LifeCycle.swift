internal import CardRules
public import Lanes

/// Owns the parts of a daemon: starts them in order, watches over them, and stops them in reverse.
///
/// While it runs, `signals` tells it to stop or to reload. It ends when it is told to, or when a part fails whose failure
/// takes the daemon down.
public struct LifeCycle: Sendable {
    public enum Signal: Sendable {
        case stop, reload
    }

    /// How it came to its end.
    public enum End: Hashable, Sendable {
        /// It was told to.
        case stopped
        /// A part did not start, or failed while it ran.
        case failed(part: String, reason: String)
    }

    /// How things stand, for whoever answers a readiness check.
    public enum Stage: Int, Hashable, Sendable {
        case starting, ready, stopping
    }

    private let parts: [Part]
    private let clock: any WallClock & SteadyClock
    private let log: Log
    private let service: ServiceNotifier
    private let watchdog: @Sendable () async -> Bool
    private let reload: @Sendable () async -> Void
    private let stageChanged: @Sendable (Stage) -> Void

    /// - Parameters:
    ///   - parts: in the order of their start.
    ///   - watchdog: whether what matters still answers; not to answer is an answer too.
    ///   - reload: reads the configuration again and applies what can change.
    ///   - stageChanged: called at each change, before what belongs to it begins.
    public init(
        parts: [Part], clock: any WallClock & SteadyClock, log: Log, service: ServiceNotifier,
        watchdog: @escaping @Sendable () async -> Bool = { true },
        reload: @escaping @Sendable () async -> Void = {},
        stageChanged: @escaping @Sendable (Stage) -> Void = { _ in }
    ) {
        self.parts = parts
        self.clock = clock
        self.log = log
        self.service = service
        self.watchdog = watchdog
        self.reload = reload
        self.stageChanged = stageChanged
    }

    /// The whole life. Returns when all parts have been stopped.
    public func run(signals: AsyncStream<Signal>) async -> End {
        stageChanged(.starting)
        var started: [Part] = []
        var end: End?
        for part in parts {
            service.tell(.status("starting: \(part.name)"))
            log.debug("a part is started", [.part: .text(part.name)])
            do {
                try await part.start()
                started.append(part)
            } catch {
                end = failed(part, "\(error)")
                break
            }
        }
        if let end {
            await stop(started)
            return end
        }
        return await watch(started, signals)
    }

    // MARK: - While it runs

    private enum Happening: Sendable {
        case signal(Signal)
        case failed(Part, reason: String)
    }

    private func watch(_ started: [Part], _ signals: AsyncStream<Signal>) async -> End {
        let (happenings, tell) = AsyncStream.makeStream(of: Happening.self)
        return await withTaskGroup(of: Void.self) { group in
            for part in started {
                guard let run = part.run else { continue }
                group.addTask { await self.watch(part, run, tell) }
            }
            group.addTask {
                for await signal in signals { tell.yield(.signal(signal)) }
            }
            group.addTask { await self.keepTelling() }

            stageChanged(.ready)
            service.tell(.ready)
            service.tell(.status("ready"))
            log.info("ready")
            var end = End.stopped
            waiting: for await happening in happenings {
                switch happening {
                case .signal(.reload):
                    service.tell(.reloading(atMicroseconds: clock.uptime.nanoseconds / 1000))
                    await reload()
                    service.tell(.ready)
                case .signal(.stop): break waiting
                case .failed(let part, let reason):
                    end = failed(part, reason)
                    break waiting
                }
            }
            await stop(started)
            group.cancelAll()
            return end
        }
    }

    /// Runs one part, and again where its plan says so.
    private func watch(
        _ part: Part, _ run: @Sendable () async throws -> Void, _ tell: AsyncStream<Happening>.Continuation
    ) async {
        var count = RestartCount()
        while !Task.isCancelled {
            let began = clock.uptime
            var reason = "it ended by itself"
            do { try await run() } catch { reason = "\(error)" }
            guard !Task.isCancelled, !service.isStopping else { return }
            switch count.failed(afterSeconds: clock.uptime.seconds(since: began), part.onFailure) {
            case .endDaemon:
                tell.yield(.failed(part, reason: reason))
                return
            case .runAgain(let seconds):
                log.warning(
                    "a part failed and is run again",
                    [.part: .text(part.name), .reason: .text(reason), .seconds: .number(seconds)])
                do { try await clock.sleep(until: clock.now.advanced(bySeconds: seconds)) } catch { return }
            }
        }
    }

    /// What the service manager wants to hear again and again: that the system answers.
    private func keepTelling() async {
        let seconds = service.watchdogSeconds.map { $0 / 2 } ?? ServiceNotifier.repeatSeconds
        while !Task.isCancelled {
            service.repeatUnsent()
            // One that never answers holds this loop, and the manager acts.
            if service.watchdogSeconds != nil, await watchdog() { service.tell(.watchdog) }
            do { try await clock.sleep(until: clock.now.advanced(bySeconds: seconds)) } catch { return }
        }
    }

    // MARK: - The end

    private func stop(_ started: [Part]) async {
        stageChanged(.stopping)
        service.tell(.stopping)
        for part in started.reversed() {
            service.tell(.status("stopping: \(part.name)"))
            log.debug("a part is stopped", [.part: .text(part.name)])
            await part.stop()
        }
    }

    private func failed(_ part: Part, _ reason: String) -> End {
        log.error("a part failed, and takes the daemon down", [.part: .text(part.name), .reason: .text(reason)])
        return .failed(part: part.name, reason: reason)
    }
}
