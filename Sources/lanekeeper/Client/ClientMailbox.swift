import Synchronization

/// What callers hand to the client's thread.
enum ClientMessage: Sendable {
    case begin(ClientJob)
    case cancel(UInt64)
    case stop
}

/// A call, or an event stream, with whom to tell. The closures are called on the client's thread and must not block.
struct ClientJob: Sendable {
    enum Way: Sendable {
        case whole(@Sendable (Result<ClientResponse, ClientError>) -> Void)
        case events(@Sendable (ServerSentEvent) -> Void, done: @Sendable (ClientStreamEnd) -> Void)
    }

    let number: UInt64
    let request: ClientRequest
    let way: Way

    func fail(_ error: ClientError) {
        switch way {
        case .whole(let done): done(.failure(error))
        case .events(_, let done): done(.failed(error))
        }
    }
}

/// How an event stream ended.
enum ClientStreamEnd: Hashable, Sendable {
    /// The server ended it in order.
    case ended
    /// It never began: an answer that is not 200, or no event stream.
    case answered(ClientResponse)
    case failed(ClientError)
}

/// From any thread to the client's own. Once it is shut, messages are handed back.
final class ClientMailbox: Sendable {
    private struct State {
        var messages: [ClientMessage] = []
        var number: UInt64 = 0
        var isShut = false
    }

    private let state = Mutex(State())

    func takeNumber() -> UInt64 {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    /// - Returns: `false` once shut; nobody will read it.
    func post(_ message: ClientMessage) -> Bool {
        state.withLock { state in
            guard !state.isShut else { return false }
            state.messages.append(message)
            return true
        }
    }

    func takeAll() -> [ClientMessage] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// - Returns: what was posted and not read.
    func shut() -> [ClientMessage] {
        state.withLock { state in
            defer { state.messages = [] }
            state.isShut = true
            return state.messages
        }
    }
}
