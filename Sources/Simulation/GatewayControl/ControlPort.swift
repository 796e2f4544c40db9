internal import Synchronization
public import TLS

/// Takes lines over TCP on loopback and answers each with one. For scripts; no TLS, no key: who can reach it commands the
/// simulated gateway. Runs on a thread of its own.
public final class ControlPort: Sendable {
    public let address: SocketAddress
    private let wake: EventSignal
    private let thread: LoopThread

    /// - Parameter answer: called on the port's thread; must not block.
    /// - Throws: `SocketError` when the port cannot be opened.
    public init(
        on wanted: SocketAddress, answer: @escaping @Sendable (String) -> String
    ) throws(SocketError) {
        let wake = try EventSignal()
        let box = Started(wake: try EventSignal())
        thread = try LoopThread(name: "control") {
            do throws(SocketError) {
                var loop = try ControlLoop(on: wanted, wake: wake, answer: answer)
                box.set(.success(loop.address))
                loop.run()
            } catch {
                box.set(.failure(error))
            }
        }
        address = try box.wait()
        self.wake = wake
    }

    /// For tasks: returns when the thread has ended.
    public func stopped() async {
        wake.signal()
        await thread.finished()
    }

    /// Where the thread says how its start went.
    private final class Started: Sendable {
        private let wake: EventSignal
        private let result = Mutex<Result<SocketAddress, SocketError>?>(nil)

        init(wake: EventSignal) { self.wake = wake }

        func set(_ value: Result<SocketAddress, SocketError>) {
            result.withLock { $0 = value }
            wake.signal()
        }

        func wait() throws(SocketError) -> SocketAddress {
            let epoll = try Epoll(eventsPerWait: 1)
            try epoll.add(wake.descriptor, .read, token: 0)
            var events: [Epoll.Event] = []
            while true {
                if let value = result.withLock({ $0 }) { return try value.get() }
                try epoll.wait(timeoutMilliseconds: nil, into: &events)
            }
        }
    }
}

private struct ControlLoop: ~Copyable {
    private let epoll: Epoll
    private let listener: Listener
    private let wake: EventSignal
    private let answer: @Sendable (String) -> String
    private var clients: [UInt64: ControlClient] = [:]
    private var next: UInt64 = 2

    private static let clientsAtMost = 64

    var address: SocketAddress { listener.address }

    init(
        on wanted: SocketAddress, wake: EventSignal, answer: @escaping @Sendable (String) -> String
    ) throws(SocketError) {
        let epoll = try Epoll()
        let listener = try Listener(on: wanted)
        try epoll.add(listener.descriptor, .read, token: 0)
        try epoll.add(wake.descriptor, .read, token: 1)
        self.epoll = epoll
        self.listener = listener
        self.wake = wake
        self.answer = answer
    }

    /// Until it is woken.
    mutating func run() {
        var events: [Epoll.Event] = []
        while true {
            do { try epoll.wait(timeoutMilliseconds: nil, into: &events) } catch { return }
            for event in events {
                switch event.token {
                case 0: accept()
                case 1: return
                default:
                    guard let client = clients[event.token] else { continue }
                    guard client.advance(answer) else {
                        clients[event.token] = nil
                        continue
                    }
                    try? epoll.modify(client.descriptor, client.wants, token: event.token)
                }
            }
        }
    }

    private mutating func accept() {
        while let socket = try? listener.accept() {
            guard clients.count < Self.clientsAtMost else { continue }  // closed at once
            let client = ControlClient(socket)
            guard (try? epoll.add(client.descriptor, .read, token: next)) != nil else { continue }
            clients[next] = client
            next += 1
        }
    }
}

/// One script that talks to the port. A line beyond 4 KB is refused; answers that nobody reads end it.
private final class ControlClient {
    private let socket: Socket
    private var line: [UInt8] = []
    private var outgoing: [UInt8] = []
    private static let lineBytesAtMost = 4096
    private static let outgoingAtMost = 1 << 24

    var descriptor: Int32 { socket.descriptor }
    var wants: Epoll.Interest { outgoing.isEmpty ? .read : [.read, .write] }

    init(_ socket: consuming Socket) { self.socket = socket }

    /// - Returns: false when it is over.
    func advance(_ answer: (String) -> String) -> Bool {
        do {
            var buffer = [UInt8](repeating: 0, count: 4096)
            reading: while true {
                var span = buffer.mutableSpan
                switch try socket.read(into: &span) {
                case .bytes(let count): guard take(buffer[..<count], answer) else { return false }
                case .closed:
                    // The last line may have no end of its own.
                    if !line.isEmpty { endLine(answer) }
                    _ = try flush()
                    return false
                case .wantsRead, .wantsWrite: break reading
                }
            }
            return try flush()
        } catch {
            return false
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>, _ answer: (String) -> String) -> Bool {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(answer)
            } else if line.count <= Self.lineBytesAtMost {
                line.append(byte)
            }
        }
        return outgoing.count <= Self.outgoingAtMost
    }

    private func endLine(_ answer: (String) -> String) {
        let text =
            line.count <= Self.lineBytesAtMost
            ? answer(String(decoding: line, as: UTF8.self))
            : #"{"error":"a line has \#(Self.lineBytesAtMost) bytes at most"}"#
        outgoing += Array(text.utf8) + [UInt8(ascii: "\n")]
        line = []
    }

    private func flush() throws -> Bool {
        while !outgoing.isEmpty {
            let bytes = outgoing
            guard case .bytes(let count) = try socket.write(bytes.span) else { return true }
            outgoing.removeFirst(count)
        }
        return true
    }
}
