internal import CardRules
internal import Lanes

/// What happens to connections, and what time asks.
extension PoolState {
    mutating func handle(_ event: PoolEvent, at now: PoolTime) {
        switch event {
        case .established(let number): change(number) { $0.established(at: now.steady) }
        case .settings(let number, let streams): change(number) { $0.took(settings: streams, at: now.steady) }
        case .answered(let push, let ticket, let answer): answered(push, ticket, answer, at: now)
        case .notSent(let push, let ticket): wasNotSent(push, ticket, at: now)
        case .unknown(let push, let ticket): isUnknown(push, ticket, at: now)
        case .noRoom(let push, let ticket): found(noRoom: push, ticket, at: now)
        case .unsendable(let push, let ticket): isUnsendable(push, ticket, at: now)
        case .cannotSign(let token, let text):
            schedules[token.key].signingFailed(token)
            for group in groups.indices { groups[group].forget(token) }
            if let group = groups.first(where: { $0.key == token.key }) {
                actions.append(.notice(.cannotSign(keyID: group.keyID, text: text)))
            }
        case .goaway(let number, let code, let text):
            if let group = change(number, { $0.drain(.goaway) }) {
                actions.append(.notice(.goaway(groups[group].gateway, code: code, text: text)))
            }
        case .failed(let number, let text):
            if let group = change(number, { $0.drain(.goaway) }) {
                actions.append(.notice(.connectionFailed(groups[group].gateway, text: text)))
            }
        case .pong(let number): change(number) { $0.ponged(at: now.steady) }
        case .lost(let number, let text):
            guard let group = change(number, { _ in }) else { return }
            if groups[group].connections.contains(where: { $0.number == number && $0.inFlight > 0 }) {
                giveUpRequests(on: number)
            }
            if let text, groups[group].isNews(text) {
                actions.append(.notice(.connectionFailed(groups[group].gateway, text: text)))
            }
            groups[group].remove(number, jitter: jitter.next(), at: now.steady)
        }
    }

    /// Everything that can be done now. Call after the events of a round.
    mutating func turn(at now: PoolTime) {
        if let deadline = stopping?.deadline, deadline <= now.steady, stopping?.isOver == false { endStop(at: now) }
        expireRequests(at: now)
        unpark(at: now)
        expireWaiting(at: now)
        for gateway in Gateway.allCases { dispatch(gateway, at: now) }
        for group in groups.indices { keepUp(group, at: now) }
    }

    private mutating func keepUp(_ group: Int, at now: PoolTime) {
        while let upkeep = groups[group].upkeep(at: now.steady) {
            switch upkeep {
            case .ping(let number):
                change(number) { $0.pinged(at: now.steady) }
                actions.append(.ping(number))
            case .drain(let number, let cause): change(number) { $0.drain(cause) }
            }
        }
        for connection in groups[group].connections where connection.isOver {
            actions.append(.close(connection.number))
            let slow = "it was not ready in time"
            if connection.phase == .draining(.slowOpening), groups[group].isNews(slow) {
                actions.append(.notice(.connectionFailed(groups[group].gateway, text: slow)))
            }
            groups[group].remove(connection.number, jitter: jitter.next(), at: now.steady)
        }
        let mayOpen = stopping == nil || stopping?.deadline != nil && stopping?.isOver == false
        if let standing = groups[group].wantsConnection(at: now.steady), mayOpen {
            lastConnection += 1
            let attempt = groups[group].failures
            groups[group].open(lastConnection, standing, at: now.steady)
            actions.append(.open(lastConnection, group: group, attempt: attempt))
        }
    }

    /// - Returns: the group of that connection; `nil` if there is none.
    @discardableResult
    private mutating func change(_ number: UInt64, _ body: (inout ConnectionState) -> Void) -> Int? {
        for group in groups.indices {
            guard let place = groups[group].place(of: number) else { continue }
            body(&groups[group][place])
            return group
        }
        return nil
    }

    // MARK: - Waiting

    /// The gateway's waiting clock: it stands still while the gateway is paused.
    func waitingTime(_ gateway: Gateway, at now: PoolTime) -> SteadyTime {
        let pause = pauses[gateway]
        guard pause.since != nil || pause.totalSeconds != 0 else { return now.steady }
        return (pause.since ?? now.steady).advanced(bySeconds: -pause.totalSeconds)
    }

    /// Heads only: a line is in the order of its deadlines.
    mutating func expireWaiting(at now: PoolTime) {
        for flow in flows.indices {
            let time = waitingTime(flows[flow].gateway, at: now)
            for line in flows[flow].lines.indices { _ = head(of: flow, line, waiting: time) }
        }
    }

    // MARK: - Commands

    /// Nothing more leaves for that gateway; what waits goes on waiting, its time stands still. What is in flight is
    /// answered as ever.
    mutating func pause(_ gateway: Gateway, at now: PoolTime) {
        if pauses[gateway].since == nil { pauses[gateway].since = now.steady }
    }

    /// What waits goes, but for pushes whose `apns-expiration` has passed meanwhile.
    mutating func resume(_ gateway: Gateway, at now: PoolTime) {
        guard let since = pauses[gateway].since else { return }
        pauses[gateway].since = nil
        pauses[gateway].totalSeconds += now.steady.seconds(since: since)
        for flow in flowsOf[gateway] {
            for line in flows[flow].lines.indices {
                for place in flows[flow].lines[line].removeAll() where isCurrent(place) {
                    let expiration = slots[place.push.place].facts.expiration
                    if expiration > 0, expiration <= now.wall.unixSeconds {
                        drop(place.push)
                    } else {
                        flows[flow].lines[line].append(place)
                    }
                }
            }
        }
    }

    mutating func set(perSecond: Double, of gateway: Gateway, at now: PoolTime) {
        buckets[gateway].set(perSecond: perSecond, at: now.steady)
    }

    /// Nothing new is taken. With a deadline what waits still goes until then; then every push is over. Without one what
    /// waits is over at once, and what is in flight is awaited.
    mutating func stop(deadline: SteadyTime?, at now: PoolTime) {
        guard stopping == nil else { return }
        stopping = Stop(deadline: deadline)
        if deadline == nil { dropWaiting() }
    }

    private mutating func endStop(at now: PoolTime) {
        stopping?.isOver = true
        dropWaiting()
        giveUpRequests()
    }

    private mutating func dropWaiting() {
        for place in slots.indices where slots[place].phase == .waiting { drop(PushID(place: place)) }
    }
}
