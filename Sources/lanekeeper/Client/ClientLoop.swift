/// The client's thread: gives jobs to libcurl, as many as may run at a time, and tells how they ended. Everything here
/// belongs to that thread.
final class ClientLoop {
    private let configuration: ClientConfiguration
    private let multi: CurlMulti
    private let mailbox: ClientMailbox
    private var running: [UInt64: CurlTransfer] = [:]
    private var runningStreams = 0
    private var waiting: [ClientJob] = []
    /// Of `waiting`: those before it have gone.
    private var firstWaiting = 0
    private var cancelledWaiting: Set<UInt64> = []
    /// Handles for the next jobs: a fresh one costs more than a request.
    private var idle: [CurlTransfer] = []

    init(_ configuration: ClientConfiguration, _ multi: CurlMulti, _ mailbox: ClientMailbox) {
        self.configuration = configuration
        self.multi = multi
        self.mailbox = mailbox
    }

    func run() {
        CurlMulti.keepBrokenPipesQuiet()
        while true {
            for message in mailbox.takeAll() {
                switch message {
                case .begin(let job): take(job)
                case .cancel(let number): cancel(number)
                case .stop: return finish()
                }
            }
            startWaiting()
            for ended in multi.perform() { settle(ended.transfer, ended.fault) }
            startWaiting()
            // A transfer just added is due at once: then this returns without waiting.
            multi.poll()
        }
    }

    private func take(_ job: ClientJob) {
        if case .events = job.way {
            guard runningStreams < configuration.maximumStreams else {
                return job.fail(.tooManyWaiting(limit: configuration.maximumStreams))
            }
            runningStreams += 1
            return start(job)
        }
        guard waiting.count - firstWaiting < configuration.maximumWaiting else {
            return job.fail(.tooManyWaiting(limit: configuration.maximumWaiting))
        }
        waiting.append(job)
    }

    private func startWaiting() {
        let most = min(max(1, configuration.maximumConnections), 1_000)
        while firstWaiting < waiting.count, running.count - runningStreams < most {
            let job = waiting[firstWaiting]
            firstWaiting += 1
            if cancelledWaiting.remove(job.number) == nil { start(job) }
        }
        if firstWaiting == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            (firstWaiting, cancelledWaiting) = (0, [])
        } else if firstWaiting > 4_096 && firstWaiting > waiting.count / 2 {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }

    private func start(_ job: ClientJob) {
        do throws(ClientError) {
            let transfer: CurlTransfer
            if let kept = idle.popLast() { transfer = kept } else { transfer = try CurlTransfer() }
            try transfer.prepare(job, configuration)
            try multi.add(transfer)
            running[job.number] = transfer
        } catch {
            if case .events = job.way { runningStreams -= 1 }
            job.fail(error)
        }
    }

    private func cancel(_ number: UInt64) {
        if let transfer = running[number] {
            return settle(transfer, .cancelled)
        }
        guard let job = waiting[firstWaiting...].first(where: { $0.number == number }),
            cancelledWaiting.insert(number).inserted
        else { return }
        job.fail(.cancelled)
    }

    /// - Parameter fault: `nil`: libcurl has a whole answer.
    private func settle(_ transfer: CurlTransfer, _ fault: ClientError?) {
        guard let job = transfer.job else { return }
        multi.remove(transfer)
        running[job.number] = nil
        if case .events = job.way { runningStreams -= 1 }
        let outcome = transfer.release(fault)
        if idle.count < configuration.maximumConnections { idle.append(transfer) }
        switch (job.way, outcome) {
        case (.whole(let done), .answered(let response)): done(.success(response))
        case (.whole(let done), .ended): done(.failure(.broken("an event stream nobody asked for")))
        case (_, .failed(let error)): job.fail(error)
        case (.events(_, let done), _): done(outcome)
        }
    }

    private func finish() {
        let unread = mailbox.shut()
        for transfer in running.values { settle(transfer, .stopped) }
        for job in waiting[firstWaiting...] where !cancelledWaiting.contains(job.number) { job.fail(.stopped) }
        for case .begin(let job) in unread { job.fail(.stopped) }
        idle = []
    }
}
