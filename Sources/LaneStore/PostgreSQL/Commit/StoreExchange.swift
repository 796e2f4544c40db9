internal import CardRules
internal import Dispatch
internal import Lanes
internal import Postgres
internal import Synchronization

/// What callers and the store's threads share: work goes in from any thread, without waiting.
final class StoreExchange: Sendable {
    enum Job: Sendable {
        case commit(CommitGroup)
        case read(ReadJob)
        case tidy(Tidying)
        /// Nothing for a second: see whether the connection still stands.
        case look
    }

    struct ReadJob: Sendable {
        /// - Returns: why it has to be run again, on another connection; `nil`: it has told its caller.
        let run: @Sendable (inout PostgresSession) -> PostgresError?
        let fail: @Sendable (StoreError) -> Void
    }

    /// Batches and reads that may wait; above, they fail at once and the shard tries again later.
    static let maxWaiting = 10_000

    private let state: Mutex<State>
    private let arrivals = DispatchSemaphore(value: 0)
    private let patience = DispatchSemaphore(value: 0)
    private let threads: Int
    private let commitRows: Int

    fileprivate struct State: Sendable {
        var desk: CommitDesk
        var reads: [ReadJob] = []
        var tidyings: TidyPlan
        var connected = 0
        /// While no thread is connected, why.
        var away: StoreError?
        var isClosed = false
    }

    init(writer: Int64, threads: Int, commitRows: Int, timelineSeconds: Int64) {
        self.threads = threads
        self.commitRows = commitRows
        state = Mutex(State(desk: CommitDesk(writer: writer), tidyings: TidyPlan(timelineSeconds: timelineSeconds)))
    }

    // MARK: - For callers

    /// - Returns: `nil` if it was taken, else why not.
    func offer(_ order: CommitOrder) -> StoreError? {
        put { state in
            guard state.desk.waiting.count < Self.maxWaiting else {
                return .unavailable(detail: "\(Self.maxWaiting) commits wait for the database")
            }
            state.desk.offer(order)
            return nil
        }
    }

    func offer(_ read: ReadJob) -> StoreError? {
        put { state in
            guard state.reads.count < Self.maxWaiting else {
                return .unavailable(detail: "\(Self.maxWaiting) reads wait for the database")
            }
            state.reads.append(read)
            return nil
        }
    }

    private func put(_ body: (inout State) -> StoreError?) -> StoreError? {
        let refusal: StoreError? = state.withLock { state in
            if state.isClosed { return .unavailable(detail: "the store is closed") }
            return state.away ?? body(&state)
        }
        if refusal == nil { arrivals.signal() }
        return refusal
    }

    func hold(_ partition: Int, epoch: Int64, seq: Int64) {
        state.withLock { $0.desk.hold(partition, epoch: epoch, seq: seq) }
    }

    func letGo(_ partition: Int, epoch: Int64?) {
        state.withLock { $0.desk.letGo(partition, epoch: epoch) }
        arrivals.signal()
    }

    var epochs: [Int: Int64] { state.withLock { $0.desk.held.mapValues(\.epoch) } }

    var away: StoreError? { state.withLock { $0.away } }

    /// Nothing is taken any more; what waits is still done.
    func close() {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads {
            arrivals.signal()
            patience.signal()
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: - For the threads

    /// Blocks until something can be done, a second at most.
    /// - Returns: `nil` when the store is closed and nothing waits any more.
    func next() -> Job? {
        while true {
            var refused: [CommitOrder] = []
            let (job, isOver, hasMore) = state.withLock { state in
                let job = state.next(rows: commitRows, refused: &refused)
                let isEmpty = state.reads.isEmpty && state.desk.waiting.isEmpty
                return (job, isEmpty && state.isClosed, !isEmpty)
            }
            for order in refused { order.done(.failed(.fenced)) }
            if let job {
                if hasMore { arrivals.signal() }
                return job
            }
            if isOver {
                arrivals.signal()  // the next thread ends too
                return nil
            }
            if arrivals.wait(timeout: .now() + 1) == .timedOut { return .look }
        }
    }

    func landed(_ group: CommitGroup, refused: [RefusedRows]) {
        finish { state in
            state.desk.moved(group)
            for order in group.orders { state.tidyings.note(order.batch) }
        }
        for (order, rows) in zip(group.orders, refused) { order.done(.landed(refused: rows)) }
    }

    /// Its counters were moved in its stead.
    func cancelled(_ group: CommitGroup, as error: StoreError) {
        finish { $0.desk.moved(group.next) }
        for order in group.orders { order.done(.failed(error)) }
    }

    func failed(_ group: CommitGroup, as error: StoreError) {
        finish { $0.desk.drop(group) }
        for order in group.orders { order.done(.failed(error)) }
    }

    /// These partitions have a newer owner; what does not concern them is tried again.
    func fenced(_ group: CommitGroup, lost: CommitScope) {
        var gone: [CommitOrder] = []
        finish { gone = $0.desk.put(back: group, without: lost) }
        for order in gone { order.done(.failed(.fenced)) }
    }

    /// It was not begun.
    func putBack(_ group: CommitGroup) { finish { _ = $0.desk.put(back: group) } }

    private func finish(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        arrivals.signal()
    }

    func connected() {
        state.withLock { state in
            state.connected += 1
            state.away = nil
        }
    }

    func disconnected() { state.withLock { $0.connected -= 1 } }

    /// A connection could not be made. When no other stands, nothing can be done: what waits is told so.
    func unreachable(_ error: PostgresError) {
        let failure = StoreError.unavailable(detail: "\(error)")
        let (orders, reads) = state.withLock { state in
            guard state.connected == 0 else { return ([CommitOrder](), [ReadJob]()) }
            state.away = failure
            defer { state.reads = [] }
            return (state.desk.takeAll(), state.reads)
        }
        for order in orders { order.done(.failed(failure)) }
        for read in reads { read.fail(failure) }
    }

    /// Blocks; closing cuts short one pause of each thread.
    func pause(seconds: Double) { _ = patience.wait(timeout: .now() + seconds) }
}

extension StoreExchange.State {
    /// What somebody waits for goes first.
    fileprivate mutating func next(rows: Int, refused: inout [CommitOrder]) -> StoreExchange.Job? {
        if !reads.isEmpty { return .read(reads.removeFirst()) }
        if let group = desk.next(rows: rows, refused: &refused) { return .commit(group) }
        return tidyings.next().map { .tidy($0) }
    }
}
