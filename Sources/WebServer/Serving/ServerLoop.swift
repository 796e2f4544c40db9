internal import TLS

/// Serves the connections of one thread, and on the first thread accepts them for all. A turn is: wait, read what came,
/// let the handler answer, write.
struct ServerLoop: ~Copyable {
    let shared: ServerShared
    let mailbox: LoopMailbox
    let epoll: Epoll
    var listener: Listener?
    var connections: [UInt64: ServedConnection] = [:]
    /// Those that this turn has changed.
    var touched: [ServedConnection] = []
    /// Those with bytes left to read that the system will not speak of again.
    var unfinished: [ServedConnection] = []
    var nextToken = Self.firstConnection
    /// The loop that gets the next connection.
    var nextLoop = 0
    var isAcceptPaused = false
    var now: Int64
    var date: [UInt8] = []
    private var dateSeconds: Int64 = -1
    private var sweptAt: Int64
    private var stopsAt: Int64?
    private var scratch = [UInt8](repeating: 0, count: 65_536)
    private var batch: [LoopMessage] = []

    static let listenerToken: UInt64 = 0
    private static let wakeToken: UInt64 = 1
    private static let firstConnection: UInt64 = 2
    /// Batches of messages in one turn: as many requests of one connection are answered before its bytes are written.
    private static let batchesPerTurn = 64
    private static let readsPerTurn = 4
    private static let sweepNanoseconds: Int64 = 1_000_000_000

    init(_ shared: ServerShared, place: Int, listener: consuming Listener?) throws(SocketError) {
        let epoll = try Epoll(eventsPerWait: 512)
        let mailbox = shared.mailboxes[place]
        try epoll.add(mailbox.wake.descriptor, .read, token: Self.wakeToken)
        if let descriptor = listener?.descriptor {
            try epoll.add(descriptor, .read, token: Self.listenerToken)
        }
        let now = shared.clock.nanoseconds()
        self.shared = shared
        self.mailbox = mailbox
        self.epoll = epoll
        self.listener = consume listener
        self.now = now
        sweptAt = now
    }

    /// Until the server was told to stop and all connections have ended, or their time is up.
    mutating func run() {
        var events: [Epoll.Event] = []
        while !isOver {
            let isQuiet = unfinished.isEmpty && mailbox.fallAsleep()
            do { try epoll.wait(timeoutMilliseconds: isQuiet ? patience : 0, into: &events) } catch { break }
            readClocks()
            if isAcceptPaused { resumeAccepting() }
            for event in events {
                switch event.token {
                case Self.wakeToken: mailbox.wake.drain()
                case Self.listenerToken: acceptSome()
                case let token: if let connection = connections[token] { take(event, of: connection) }
                }
            }
            readUnfinished()
            takeMessages()
            for connection in touched { settle(connection) }
            touched.removeAll(keepingCapacity: true)
            if now - sweptAt >= Self.sweepNanoseconds { sweep() }
        }
        leave()
    }

    private var patience: Int32? {
        if isAcceptPaused { return 100 }
        return connections.isEmpty && stopsAt == nil ? nil : 1000
    }

    private var isOver: Bool {
        guard let stopsAt else { return false }
        return connections.isEmpty || now >= stopsAt
    }

    private mutating func readClocks() {
        now = shared.clock.nanoseconds()
        let seconds = shared.clock.unixSeconds()
        guard seconds != dateSeconds else { return }
        dateSeconds = seconds
        date = Array(HTTPDate.text(unixSeconds: seconds).utf8)
    }

    // MARK: Connections

    private mutating func take(_ event: Epoll.Event, of connection: ServedConnection) {
        touch(connection)
        guard connection.isEstablished || establish(connection) else { return }
        if event.isReadable, !connection.registered.contains(.read) {
            connection.state.lose()  // reported although nobody asked: it broke
            return
        }
        if event.isReadable || connection.readWantsWrite { connection.mayRead = true }
        read(connection)
    }

    private func establish(_ connection: ServedConnection) -> Bool {
        connection.establish()
        return connection.isEstablished
    }

    private mutating func read(_ connection: ServedConnection) {
        var reads = 0
        while connection.mayRead, connection.state.wantsInput, reads < Self.readsPerTurn {
            reads += 1
            guard connection.read(into: &scratch, at: now) else { return }
            advance(connection)
            // An answer may be in the mailbox already; what is behind this request waits for it.
            if connection.state.isParked { return }
        }
    }

    private mutating func readUnfinished() {
        guard !unfinished.isEmpty else { return }
        let connections = unfinished
        unfinished.removeAll(keepingCapacity: true)
        for connection in connections {
            touch(connection)
            read(connection)
        }
    }

    /// Does all that the state asks for.
    mutating func advance(_ connection: ServedConnection) {
        while let effect = connection.state.next(at: now) { perform(effect, of: connection) }
    }

    mutating func perform(_ effect: ConnectionState.Effect, of connection: ServedConnection) {
        switch effect {
        case .judge(let head):
            switch shared.handler.admit(head) {
            case .bodyOf(let maximumBytes): connection.state.admit(maximumBytes: maximumBytes, at: now)
            case .refused(let answer):
                report(connection.state.refuse(answer, isFault: false, date: date, at: now))
            }
        case .take(let request, let number):
            let exchange = ParkedExchange(
                mailbox, connection: connection.token, number: number, presence: connection.presence,
                unreadBytes: shared.configuration.limits.unreadBytes)
            shared.handler.take(request, exchange)
        case .fault(let fault):
            let answer = shared.handler.refusal(status: fault.status, detail: fault.detail)
            report(connection.state.refuse(answer, isFault: true, date: date, at: now))
        }
    }

    func report(_ served: WebServed?) {
        guard let served else { return }
        shared.tally.answered.increase()
        shared.observe(served)
    }

    mutating func touch(_ connection: ServedConnection) {
        guard !connection.isTouched else { return }
        connection.isTouched = true
        touched.append(connection)
    }

    /// Writes, and waits for what is needed next.
    private mutating func settle(_ connection: ServedConnection) {
        connection.isTouched = false
        guard connections[connection.token] != nil else { return }
        if connection.isEstablished {
            connection.flush()
            advance(connection)  // what waited for room, or for the end of the input
            connection.flush()
            if connection.state.wantsFinish {
                connection.link.finishWriting()
                connection.state.finishedWriting(at: now)
            }
        }
        countParked(connection)
        connection.stream?.note(taken: 0, pending: connection.state.pendingBytes)
        if let stream = connection.stream, !connection.state.isStreaming {
            finish(stream, of: connection, connection.state.isOver ? .peerGone : .finished)
        }
        guard !connection.state.isOver else { return drop(connection) }
        let interest = connection.interest
        if interest != connection.registered {
            connection.registered = interest
            do {
                try epoll.modify(connection.link.descriptor, interest, token: connection.token)
            } catch {
                return drop(connection)
            }
        }
        if connection.isEstablished, connection.mayRead, connection.state.wantsInput { unfinished.append(connection) }
    }

    private func countParked(_ connection: ServedConnection) {
        guard connection.state.isParked != connection.countsAsParked else { return }
        connection.countsAsParked.toggle()
        if connection.countsAsParked { shared.tally.parked.increase() } else { shared.tally.parked.decrease() }
    }

    private mutating func drop(_ connection: ServedConnection) {
        connection.state.lose()
        countParked(connection)
        if let stream = connection.stream { finish(stream, of: connection, .peerGone) }
        connection.presence.leave()
        connections[connection.token] = nil
        uncount(isTurnedAway: connection.isTurnedAway)
    }

    func finish(_ stream: StreamAccount, of connection: ServedConnection, _ reason: WebStreamEnd) {
        connection.stream = nil
        shared.tally.streams.decrease()
        if reason == .tooSlow { shared.tally.cutStreams.increase() }
        stream.end(reason)
    }

    // MARK: Messages

    private mutating func takeMessages() {
        for _ in 0..<Self.batchesPerTurn {
            mailbox.take(into: &batch)
            guard !batch.isEmpty else { return }
            for message in batch { obey(message) }
            batch.removeAll(keepingCapacity: true)
        }
    }

    mutating func stop() {
        guard stopsAt == nil else { return }
        stopsAt = now + Int64(shared.configuration.stopSeconds) * 1_000_000_000
        listener = nil
        isAcceptPaused = false
        for connection in Array(connections.values) {
            touch(connection)
            guard connection.isEstablished else {
                connection.state.lose()
                continue
            }
            let stream = connection.stream
            connection.state.stop(at: now)
            if let stream { finish(stream, of: connection, .stopping) }
        }
    }

    var isStopping: Bool { stopsAt != nil }

    // MARK: Time

    mutating func sweep() {
        sweptAt = now
        for connection in Array(connections.values) {
            guard let effect = connection.state.sweep(at: now) else {
                if connection.state.isOver || connection.state.wantsFinish { touch(connection) }
                continue
            }
            touch(connection)
            // Before TLS stands there is nobody to tell.
            if connection.isEstablished { perform(effect, of: connection) } else { connection.state.lose() }
        }
        for connection in touched { settle(connection) }
        touched.removeAll(keepingCapacity: true)
    }

    private mutating func leave() {
        listener = nil
        for connection in Array(connections.values) {
            if let stream = connection.stream { finish(stream, of: connection, .stopping) }
            drop(connection)
        }
        for message in mailbox.close() {
            switch message {
            case .openStream(_, _, _, let account): account.end(.stopping)
            case .adopt: shared.tally.connections.decrease()
            case .answer, .dropped, .bytes, .closeStream, .sweep, .stop: break
            }
        }
    }
}
