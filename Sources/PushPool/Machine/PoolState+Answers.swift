internal import CardRules
internal import Lanes

/// What became of requests (L2, G2 to G6).
extension PoolState {
    mutating func answered(_ push: PushID, _ ticket: UInt32, _ answer: PoolAnswer, at now: PoolTime) {
        guard let (group, place) = takeBack(push, ticket, at: now) else { return }
        compareClock(answer.peerSeconds, group, place, at: now)
        let gateway = slots[push.place].facts.gateway
        let flow = slots[push.place].flow
        let meaning = AnswerMeaning(answer.verdict)
        let connection = groups[group].connections[place].number
        if meaning.provesConnection { groups[group][place].proved() }
        if meaning.speaksForItsApp {
            if groups[group].noteSuccess() { actions.append(.notice(.healed(.gateway(gateway)))) }
            flows[flow].isProven = true
        }
        switch meaning {
        case .accepted:
            if !faults.isQuiet {
                for scope in [key(of: group), app(of: flow), .gateway(gateway)] { heal(scope) }
            }
            addresses.noteAccepted(slots[push.place].facts.address)
            otherTries.noteAccepted()
        case .badToken:
            addresses.noteFailing(slots[push.place].facts.address, bad: gateway, at: now.steady)
            otherTries.noteBad()
        case .deadToken:
            addresses.noteFailing(slots[push.place].facts.address, bad: nil, at: now.steady)
        case .slowToken:
            addresses.hold(slots[push.place].facts.address, jitter: jitter.next(), at: now.steady)
        case .serverError:
            if faults.noteFault(.gateway(gateway), at: now.steady) == .held {
                actions.append(.notice(.gatewayInTrouble(gateway, status: answer.verdict.status)))
            }
            if slots[push.place].facts.event == .start, !slots[push.place].isQuickTry, mayGoAgain,
                !faults.isHeld(.gateway(gateway))
            {
                slots[push.place].isQuickTry = true
                slots[push.place].above = connection
                slots[push.place].refusal = answer.verdict
                groups[group][place].drain(.serverError)
                return giveBack(push, at: now)
            }
        case .changeConnection(let cause):
            // Once a connection: what else was in flight on it says nothing new.
            if cause.isKeyFault, !groups[group][place].isDraining { blame(key(of: group), answer.verdict, at: now) }
            groups[group][place].drain(cause.isKeyFault ? .providerToken : .peerAsked)
            if cause == .tokenExpired, let token = slots[push.place].token { schedules[token.key].wasRefused(token) }
            if !slots[push.place].hasChangedConnection, mayGoAgain {
                slots[push.place].hasChangedConnection = true
                return giveBack(push, at: now)
            }
        case .fault(.key): blame(key(of: group), answer.verdict, at: now)
        case .fault(.app): blame(app(of: flow), answer.verdict, at: now)
        case .fault(.push):
            mention(
                .refusedPush(
                    topic: flows[flow].key.topic, reason: answer.verdict.reasonWord, status: answer.verdict.status),
                at: now)
        }
        settle(push, answer.verdict)
    }

    /// It may be sent again: it certainly did not count.
    mutating func wasNotSent(_ push: PushID, _ ticket: UInt32, at now: PoolTime) {
        guard takeBack(push, ticket, at: now) != nil else { return }
        slots[push.place].moves += 1
        guard slots[push.place].moves <= Self.movesAtMost, mayGoAgain else { return settle(push, .notSent) }
        giveBack(push, at: now)
    }

    mutating func isUnknown(_ push: PushID, _ ticket: UInt32, at now: PoolTime) {
        guard takeBack(push, ticket, at: now) != nil else { return }
        settle(push, .unknown)
    }

    mutating func found(noRoom push: PushID, _ ticket: UInt32, at now: PoolTime) {
        guard let (group, place) = takeBack(push, ticket, at: now) else { return }
        groups[group][place].drain(.full)
        giveBack(push, at: now)
    }

    mutating func isUnsendable(_ push: PushID, _ ticket: UInt32, at now: PoolTime) {
        guard takeBack(push, ticket, at: now) != nil else { return }
        settle(push, .notSent)
    }

    /// G6: requests past their time are given up, and their connection is of no more use (ref T23). Those that left are
    /// unknown; one that the peer's window or socket held back the whole time was not sent (L2).
    mutating func expireRequests(at now: PoolTime) {
        while let next = deadlines.first {
            guard slots[next.push.place].ticket == next.ticket,
                case .inFlight(let number) = slots[next.push.place].phase
            else {
                deadlines.removeFirst()
                continue
            }
            guard next.deadline <= now.steady else { return }
            deadlines.removeFirst()
            let group = slots[next.push.place].group
            guard let place = groups[group].place(of: number) else {
                noteOver(next.push.place)
                settle(next.push, .unknown)
                continue
            }
            mention(.timedOut(groups[group].gateway), at: now)
            groups[group][place].drain(.timedOut)
            actions.append(.giveUp(next.push, ticket: next.ticket, on: number))
        }
    }

    /// Its connection is gone, and nobody said what became of these.
    mutating func giveUpRequests(on number: UInt64) {
        for place in slots.indices where slots[place].phase == .inFlight(connection: number) {
            noteOver(place)
            settle(PushID(place: place), .unknown)
        }
    }

    /// What is in flight is over, for the pool's time is.
    mutating func giveUpRequests() {
        for place in slots.indices {
            guard case .inFlight = slots[place].phase else { continue }
            noteOver(place)
            settle(PushID(place: place), .unknown)
        }
    }

    private mutating func noteOver(_ place: Int) {
        inFlightCount -= 1
        flows[slots[place].flow].inFlight -= 1
    }

    /// - Returns: its connection; `nil` if that request is over already.
    private mutating func takeBack(
        _ push: PushID, _ ticket: UInt32, at now: PoolTime
    ) -> (group: Int, place: Int)? {
        guard slots.indices.contains(push.place), slots[push.place].ticket == ticket,
            case .inFlight(let number) = slots[push.place].phase,
            let place = groups[slots[push.place].group].connections.place(of: number)
        else { return nil }
        let group = slots[push.place].group
        groups[group][place].ended(at: now.steady)
        noteOver(push.place)
        return (group, place)
    }

    private mutating func giveBack(_ push: PushID, at now: PoolTime) {
        if slots[push.place].facts.event == .update {
            let address = slots[push.place].facts.address
            // G7: a newer one of its card waits; two of one card do not change places.
            guard waitingUpdate(to: address) == nil else { return settle(push, .notSent) }
            waitingUpdates.insert(push, address.bits)
        }
        enqueue(push, isReturning: true)
    }

    private var mayGoAgain: Bool { stopping.map { $0.deadline != nil && !$0.isOver } ?? true }

    private func app(of flow: Int) -> PoolScope { .app(flows[flow].gateway, topic: flows[flow].key.topic) }

    private mutating func blame(_ scope: PoolScope, _ verdict: Verdict, at now: PoolTime) {
        guard faults.noteFault(scope, at: now.steady) == .held else { return }
        actions.append(.notice(.misconfigured(scope, reason: verdict.reasonWord)))
    }

    private mutating func heal(_ scope: PoolScope) {
        if faults.noteAccepted(scope) == .healed { actions.append(.notice(.healed(scope))) }
    }

    /// Once a connection: a clock that is off makes every provider token invalid (ref K2).
    private mutating func compareClock(_ seconds: Int64?, _ group: Int, _ place: Int, at now: PoolTime) {
        guard let seconds, !groups[group][place].isClockCompared else { return }
        groups[group][place].isClockCompared = true
        let ahead = now.wall.unixSeconds - seconds
        guard abs(ahead) >= plan.skewSeconds else { return }
        actions.append(.notice(.clockSkew(groups[group].gateway, seconds: Int(clamping: ahead))))
    }
}

extension AnswerMeaning {
    /// It speaks neither against the app nor against its key or the gateway.
    fileprivate var speaksForItsApp: Bool {
        switch self {
        case .accepted, .badToken, .deadToken, .slowToken: true
        case .serverError, .changeConnection, .fault: false
        }
    }

    /// Ref T14: a request with a valid provider token was posted.
    fileprivate var provesConnection: Bool {
        switch self {
        case .accepted, .badToken, .deadToken, .slowToken, .serverError, .fault(.app), .fault(.push): true
        case .changeConnection, .fault(.key): false
        }
    }
}

extension Verdict {
    fileprivate var reasonWord: String { if case .refused(let refusal) = self { refusal.reason.word } else { "" } }
    fileprivate var status: Int { if case .refused(let refusal) = self { refusal.status } else { 0 } }
}
