internal import Synchronization
public import TLS

/// A small strict HTTP/1.1 server on threads of its own, plain or with TLS. Safe from any thread. It begins with its
/// `init` and ends with `stop` or `stopped`; one that is let go of stops by itself, unwaited.
public final class WebServer: Sendable {
    /// Where it listens, with the port that the system chose if 0 was asked for.
    public let address: SocketAddress
    private let shared: ServerShared
    private let threads: [LoopThread]

    /// Opens the listener and starts the threads.
    /// - Parameters:
    ///   - handler: kept until the threads have ended; called on them.
    ///   - observe: told of every answer, on the server's threads. Must not block.
    /// - Throws: `SocketError` when the address is taken or descriptors have run out; `TLSError` when the certificate or
    ///   the key is of no use. Nothing is left running then.
    public init(
        on address: SocketAddress, configuration: WebServerConfiguration = WebServerConfiguration(),
        handler: any WebHandler, clock: WebServerClock, observe: @escaping @Sendable (WebServed) -> Void = { _ in }
    ) throws {
        let context = try configuration.tls.map { try Self.context($0) }
        let listener = try Listener(on: address)
        self.address = listener.address
        let handed = HandedListener(listener)
        let count = min(max(1, configuration.threads), 16)
        var mailboxes: [LoopMailbox] = []
        for _ in 0..<count { mailboxes.append(try LoopMailbox()) }
        shared = ServerShared(
            configuration: configuration, handler: handler, clock: clock, mailboxes: mailboxes, context: context,
            observe: observe)
        var threads: [LoopThread] = []
        do {
            for place in 0..<count { threads.append(try Self.start(shared, place, place == 0 ? handed : nil)) }
        } catch {
            for mailbox in mailboxes { mailbox.post(.stop) }
            for thread in threads { thread.join() }
            throw error
        }
        self.threads = threads
    }

    deinit { tellToStop() }

    public var counts: WebServerCounts { shared.counts }

    /// Reads the certificate and the key again; connections from now on are shown the new ones. Reads files: call it on
    /// a thread that may block. Without TLS in the configuration it does nothing.
    /// - Throws: when they are of no use; those in use stay.
    public func reload() throws(TLSError) {
        guard let files = shared.configuration.tls else { return }
        let context = try Self.context(files)
        shared.context.withLock { $0 = context }
    }

    /// Stops accepting, closes what is idle, finishes what was begun within the configuration's `stopSeconds`, and waits
    /// for that: for threads and `main`, not for tasks. Further calls only wait.
    public func stop() {
        tellToStop()
        for thread in threads { thread.join() }
    }

    /// The same for tasks.
    public func stopped() async {
        tellToStop()
        for thread in threads { await thread.finished() }
    }

    /// Looks for what is due now, without waiting for the second to end.
    func sweep() {
        for mailbox in shared.mailboxes { mailbox.post(.sweep) }
    }

    private func tellToStop() {
        for mailbox in shared.mailboxes { mailbox.post(.stop) }
    }

    private static func context(_ files: WebServerConfiguration.TLSFiles) throws(TLSError) -> TLSContext {
        let identity = try ServerIdentity(certificateFile: files.certificateFile, keyFile: files.keyFile)
        return try .server(identity, protocols: ["http/1.1"], requiresProtocol: false)
    }

    /// Starts one loop and waits until it runs.
    private static func start(_ shared: ServerShared, _ place: Int, _ handed: HandedListener?) throws -> LoopThread {
        let begin = LoopBegin(try EventSignal())
        let thread = try LoopThread(name: "web-\(place)") {
            do throws(SocketError) {
                var loop = try ServerLoop(shared, place: place, listener: handed?.take())
                begin.tell(nil)
                loop.run()
            } catch {
                begin.tell(error)
            }
        }
        try begin.wait()
        return thread
    }
}

/// How the begin of a loop went.
private final class LoopBegin: Sendable {
    private let signal: EventSignal
    private let outcome = Mutex<SocketError??>(nil)

    init(_ signal: EventSignal) { self.signal = signal }

    func tell(_ error: SocketError?) {
        outcome.withLock { $0 = .some(error) }
        signal.signal()
    }

    /// Blocks for as long as a thread takes to begin.
    func wait() throws {
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(signal.descriptor, .read, token: 0)
        var events: [Epoll.Event] = []
        while true {
            if let told = outcome.withLock({ $0 }) {
                if let error = told { throw error }
                return
            }
            try epoll.wait(timeoutMilliseconds: nil, into: &events)
        }
    }
}
