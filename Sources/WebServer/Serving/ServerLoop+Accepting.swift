internal import Synchronization
internal import TLS

extension ServerLoop {
    /// In one turn, so that those who are connected are served between.
    private static var acceptsPerTurn: Int { 128 }
    /// Beyond the limit of connections so many get words; one more is just closed.
    private static var turningAwayAtMost: Int { 64 }

    mutating func acceptSome() {
        for _ in 0..<Self.acceptsPerTurn {
            do {
                guard let socket = try listener?.accept() else { return }
                place(socket)
            } catch {
                // Out of descriptors: the peer still waits, and the listener would stay readable.
                pauseAccepting()
                return
            }
        }
    }

    private mutating func place(_ socket: consuming Socket) {
        let tally = shared.tally
        tally.accepted.increase()
        guard tally.connections.load(ordering: .relaxed) < shared.configuration.maximumConnections else {
            tally.turnedAway.increase()
            // A handshake only to say no is not worth its price.
            let hasTLS = shared.context.withLock { $0 != nil }
            guard !hasTLS, tally.turningAway.load(ordering: .relaxed) < Self.turningAwayAtMost else { return }
            tally.turningAway.increase()
            adopt(socket, isTurnedAway: true)
            return
        }
        tally.connections.increase()
        let loop = nextLoop
        nextLoop = (nextLoop + 1) % shared.mailboxes.count
        guard shared.mailboxes[loop] !== mailbox else { return adopt(socket, isTurnedAway: false) }
        if !shared.mailboxes[loop].post(.adopt(HandedSocket(socket))) { tally.connections.decrease() }
    }

    mutating func adopt(_ socket: consuming Socket, isTurnedAway: Bool) {
        guard !isStopping, let link = link(over: socket) else { return uncount(isTurnedAway: isTurnedAway) }
        let token = nextToken
        nextToken += 1
        let connection = ServedConnection(
            token: token, link: link, state: ConnectionState(limits: shared.configuration.limits, at: now),
            isTurnedAway: isTurnedAway)
        do {
            try epoll.add(link.descriptor, .read, token: token)
        } catch {
            return uncount(isTurnedAway: isTurnedAway)
        }
        connections[token] = connection
        if link.isEmptyAfterShortRead { connection.establish() }
        guard isTurnedAway else { return }
        let answer = shared.handler.refusal(status: 503, detail: "There are too many connections.")
        report(connection.state.turnAway(answer, date: date, at: now))
        touch(connection)
    }

    func uncount(isTurnedAway: Bool) {
        if isTurnedAway { shared.tally.turningAway.decrease() } else { shared.tally.connections.decrease() }
    }

    /// - Returns: `nil` for a connection that cannot be served; the others go on.
    private func link(over socket: consuming Socket) -> (any PeerLink)? {
        guard let context = shared.context.withLock({ $0 }) else { return PlainLink(socket) }
        return (try? TLSConnection.server(context, socket: socket)).map(TLSLink.init)
    }

    private mutating func pauseAccepting() {
        isAcceptPaused = true
        setListening([])
    }

    mutating func resumeAccepting() {
        isAcceptPaused = false
        setListening(.read)
    }

    private mutating func setListening(_ interest: Epoll.Interest) {
        guard let descriptor = listener?.descriptor else { return }
        try? epoll.modify(descriptor, interest, token: Self.listenerToken)
    }
}
