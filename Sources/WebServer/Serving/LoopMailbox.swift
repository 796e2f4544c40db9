internal import Synchronization
internal import TLS

/// What other threads (and the handler on the loop's own) tell a loop.
enum LoopMessage: Sendable {
    case adopt(HandedSocket)
    case answer(connection: UInt64, number: UInt64, WebAnswer)
    /// An exchange went without an answer.
    case dropped(connection: UInt64, number: UInt64)
    case openStream(connection: UInt64, number: UInt64, WebHeaders, StreamAccount)
    case bytes(connection: UInt64, number: UInt64, [UInt8])
    case closeStream(connection: UInt64, number: UInt64, WebStreamEnd)
    case sweep
    case stop
}

/// A queue into one loop. A loop that is awake looks at it anyway; only one that sleeps in `Epoll` is woken, once, so
/// that answers which come together cross together.
final class LoopMailbox: Sendable {
    let wake: EventSignal
    private let state = Mutex(State())

    private struct State: Sendable {
        var messages: [LoopMessage] = []
        var isAsleep = false
        var isClosed = false
    }

    init() throws(SocketError) { wake = try EventSignal() }

    /// - Returns: `false` when the loop is over; the message is dropped.
    @discardableResult
    func post(_ message: LoopMessage) -> Bool {
        let (isOpen, isAsleep) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.messages.append(message)
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        if isAsleep { wake.signal() }
        return isOpen
    }

    /// - Returns: whether nothing waits; then the next message signals.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.messages.isEmpty
            return state.isAsleep
        }
    }

    /// Takes what has come; the loop counts as awake from here on.
    /// - Parameter batch: empty; its storage is used for what comes next.
    func take(into batch: inout [LoopMessage]) {
        state.withLock { state in
            state.isAsleep = false
            swap(&state.messages, &batch)
        }
    }

    /// - Returns: what came too late.
    func close() -> [LoopMessage] {
        state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
    }
}

/// One accepted connection on its way to another loop; closed if nobody takes it.
final class HandedSocket: Sendable {
    private let socket: Mutex<Socket?>

    init(_ socket: consuming Socket) { self.socket = Mutex(consume socket) }

    func take() -> Socket? { socket.withLock { $0.take() } }
}

/// The listener on its way to the loop that accepts.
final class HandedListener: Sendable {
    private let listener: Mutex<Listener?>

    init(_ listener: consuming Listener) { self.listener = Mutex(consume listener) }

    func take() -> Listener? { listener.withLock { $0.take() } }
}
