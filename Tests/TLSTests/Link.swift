import TLS

/// Two TLS connections over loopback, both driven by the calling thread, which waits in epoll and never for a while.
final class Link {
    var client: TLSConnection
    var server: TLSConnection
    private let epoll: Epoll

    init(client clientContext: TLSContext, server serverContext: TLSContext, host: String = "localhost") throws {
        let listener = try Listener(on: .loopback(port: 0))
        let outgoing = try Socket.connect(to: listener.address)
        epoll = try Epoll()
        var events: [Epoll.Event] = []
        try epoll.add(listener.descriptor, .read, token: 0)
        try epoll.wait(timeoutMilliseconds: 5000, into: &events)
        guard let incoming = try listener.accept() else { throw Stuck() }
        try outgoing.checkConnected()
        try epoll.add(outgoing.descriptor, .read, token: 1)
        try epoll.add(incoming.descriptor, .read, token: 2)
        client = try .client(clientContext, host: host, socket: outgoing)
        server = try .server(serverContext, socket: incoming)
    }

    /// - Returns: what each side came to; `nil` is success.
    func handshake() throws -> (client: TLSError?, server: TLSError?) {
        var outcome: (client: Result<Void, TLSError>?, server: Result<Void, TLSError>?)
        var events: [Epoll.Event] = []
        for _ in 0..<100 where outcome.client == nil || outcome.server == nil {
            if outcome.client == nil { outcome.client = step(client) }
            if outcome.server == nil { outcome.server = step(server) }
            // One side that has failed says nothing more; what the other still waits for must be the end.
            if case .failure = outcome.client {
                try? epoll.remove(client.descriptor)
                client.shutdown()
            }
            if outcome.client != nil && outcome.server != nil { break }
            try epoll.wait(timeoutMilliseconds: 5000, into: &events)
            guard !events.isEmpty else { throw Stuck() }
        }
        func error(_ result: Result<Void, TLSError>?) throws -> TLSError? {
            switch result {
            case .none: throw Stuck()
            case .failure(let error): error
            case .success: nil
            }
        }
        return (try error(outcome.client), try error(outcome.server))
    }

    private func step(_ connection: TLSConnection) -> Result<Void, TLSError>? {
        do throws(TLSError) { return try connection.handshake() == .finished ? .success(()) : nil } catch {
            return .failure(error)
        }
    }

    /// Until something has come for the server.
    func waitForServer() throws {
        var events: [Epoll.Event] = []
        while !events.contains(where: { $0.token == 2 }) {
            try epoll.wait(timeoutMilliseconds: 5000, into: &events)
            guard !events.isEmpty else { throw Stuck() }
        }
    }

    /// Sends both at once, in pieces as they fit, and returns what arrived on each side.
    func exchange(fromClient: [UInt8], fromServer: [UInt8]) throws -> (atClient: [UInt8], atServer: [UInt8]) {
        var up = fromClient[...]
        var down = fromServer[...]
        var atClient: [UInt8] = []
        var atServer: [UInt8] = []
        var events: [Epoll.Event] = []
        while atServer.count < fromClient.count || atClient.count < fromServer.count {
            let before = (up.count, down.count, atClient.count, atServer.count)
            try push(&up, into: client)
            try push(&down, into: server)
            try pull(from: server, to: &atServer)
            try pull(from: client, to: &atClient)
            if before == (up.count, down.count, atClient.count, atServer.count) {
                try epoll.wait(timeoutMilliseconds: 5000, into: &events)
                guard !events.isEmpty else { throw Stuck() }
            }
        }
        return (atClient, atServer)
    }

    private func push(_ bytes: inout ArraySlice<UInt8>, into connection: TLSConnection) throws {
        while !bytes.isEmpty {
            let copy = [UInt8](bytes.prefix(50_000))  // another address each time, as OpenSSL allows us
            guard case .bytes(let count) = try connection.write(copy.span) else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    private func pull(from connection: TLSConnection, to bytes: inout [UInt8]) throws {
        var buffer = [UInt8](repeating: 0, count: 10_000)
        while true {
            var span = buffer.mutableSpan
            guard case .bytes(let count) = try connection.read(into: &span) else { return }
            bytes += buffer.prefix(count)
        }
    }

    struct Stuck: Error {}
}

/// 29 November 2026; certificates are valid ten years each way.
let someTime: Int64 = 1_796_000_000
