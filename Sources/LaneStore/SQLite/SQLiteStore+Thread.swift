internal import Dispatch
internal import Lanes
internal import Synchronization

/// How the opening went: told by the store's thread, waited for by whoever opens.
final class Opening: Sendable {
    private let error = Mutex<StoreError?>(nil)
    private let told = DispatchSemaphore(value: 0)

    func tell(_ error: StoreError?) {
        self.error.withLock { $0 = error }
        told.signal()
    }

    /// Blocks.
    func wait() -> StoreError? {
        told.wait()
        return error.withLock { $0 }
    }
}

extension SQLiteStore {
    /// The store's thread from its beginning to its end: the file is opened, used and closed here.
    static func serve(path: String, settings: Settings, queue: StoreQueue, opened: Opening) {
        let writer: SQLiteWriter
        do throws(StoreError) {
            writer = try SQLiteWriter(path: path, settings: settings)
            opened.tell(nil)
        } catch {
            queue.close()
            opened.tell(error)
            return
        }
        while let jobs = queue.next() {
            perform(jobs, on: writer)
            writer.checkpointIfDue(isIdle: queue.isEmpty)
        }
        writer.checkpointAtEnd()
    }

    /// In order; commits that stand together share a transaction.
    private static func perform(_ jobs: [StoreQueue.Job], on writer: SQLiteWriter) {
        var batches: [CommitBatch] = []
        var answers: [@Sendable (CommitOutcome) -> Void] = []
        var rows = 0
        func flush() {
            guard !batches.isEmpty else { return }
            let outcomes = writer.commit(batches)
            let waiting = answers
            batches.removeAll(keepingCapacity: true)
            answers.removeAll(keepingCapacity: true)
            rows = 0
            for (answer, outcome) in zip(waiting, outcomes) { answer(outcome) }
        }
        for job in jobs {
            switch job {
            case .commit(let batch, let done):
                batches.append(batch)
                answers.append(done)
                rows += batch.rows
                if batches.count >= maxBatches || rows >= maxRows { flush() }
            case .read(let body):
                flush()
                body(writer)
            }
        }
        flush()
    }
}
