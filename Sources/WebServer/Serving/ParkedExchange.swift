internal import Synchronization

/// Whether a connection is still there, for those who hold one of its exchanges.
final class Presence: Sendable {
    private let gone = Atomic(false)

    var isGone: Bool { gone.load(ordering: .relaxed) }

    func leave() { gone.store(true, ordering: .relaxed) }
}

/// One request that awaits its answer.
final class ParkedExchange: WebExchange {
    private let mailbox: LoopMailbox
    private let connection: UInt64
    private let number: UInt64
    private let presence: Presence
    private let unreadBytes: Int
    private let isAnswered = Atomic(false)

    init(_ mailbox: LoopMailbox, connection: UInt64, number: UInt64, presence: Presence, unreadBytes: Int) {
        self.mailbox = mailbox
        self.connection = connection
        self.number = number
        self.presence = presence
        self.unreadBytes = unreadBytes
    }

    deinit {
        if !isAnswered.load(ordering: .relaxed) { mailbox.post(.dropped(connection: connection, number: number)) }
    }

    func answer(_ answer: WebAnswer) {
        guard claim() else { return }
        mailbox.post(.answer(connection: connection, number: number, answer))
    }

    func stream(_ headers: WebHeaders, closed: @escaping @Sendable (WebStreamEnd) -> Void) -> (any WebStream)? {
        guard !presence.isGone, claim() else { return nil }
        let account = StreamAccount(unreadBytes: unreadBytes, closed: closed)
        let message = LoopMessage.openStream(connection: connection, number: number, headers, account)
        guard mailbox.post(message) else { return nil }
        return OpenStream(mailbox, connection: connection, number: number, account: account)
    }

    private func claim() -> Bool { !isAnswered.exchange(true, ordering: .relaxed) }
}

/// What a stream's writer and its loop share: how much lies unread between them.
final class StreamAccount: Sendable {
    enum Verdict: Hashable, Sendable {
        case room
        /// This is the one that finds the limit reached; afterwards the stream is closed.
        case full
        case closed
    }

    private struct State: Sendable {
        var isOpen = true
        var isTold = false
        /// In the mailbox.
        var posted = 0
        /// In the connection's output.
        var pending = 0
    }

    private let unreadBytes: Int
    private let closed: @Sendable (WebStreamEnd) -> Void
    private let state = Mutex(State())

    init(unreadBytes: Int, closed: @escaping @Sendable (WebStreamEnd) -> Void) {
        self.unreadBytes = unreadBytes
        self.closed = closed
    }

    func add(_ count: Int) -> Verdict {
        state.withLock { state in
            guard state.isOpen else { return .closed }
            guard state.posted + state.pending + count <= unreadBytes else {
                state.isOpen = false
                return .full
            }
            state.posted += count
            return .room
        }
    }

    /// - Returns: whether it was open.
    func shut() -> Bool {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
    }

    /// On the loop's thread: so much left the mailbox, and so much lies in the connection now.
    func note(taken: Int, pending: Int) {
        state.withLock { state in
            state.posted -= taken
            state.pending = pending
        }
    }

    /// On the loop's thread: the stream is over; tells its owner, once.
    func end(_ reason: WebStreamEnd) {
        let isFirst = state.withLock { state in
            state.isOpen = false
            defer { state.isTold = true }
            return !state.isTold
        }
        if isFirst { closed(reason) }
    }
}

/// The handler's end of a stream.
final class OpenStream: WebStream {
    private let mailbox: LoopMailbox
    private let connection: UInt64
    private let number: UInt64
    private let account: StreamAccount

    init(_ mailbox: LoopMailbox, connection: UInt64, number: UInt64, account: StreamAccount) {
        self.mailbox = mailbox
        self.connection = connection
        self.number = number
        self.account = account
    }

    deinit { close() }

    func send(_ bytes: [UInt8]) -> Bool {
        switch account.add(bytes.count) {
        case .room: return mailbox.post(.bytes(connection: connection, number: number, bytes))
        case .full:
            mailbox.post(.closeStream(connection: connection, number: number, .tooSlow))
            return false
        case .closed: return false
        }
    }

    func close() {
        guard account.shut() else { return }
        mailbox.post(.closeStream(connection: connection, number: number, .finished))
    }
}
