import CardRules
import Lanes

@testable import PushPool

/// Drives the pool's decisions without a socket: a gateway of one's own choosing in virtual time.
struct PoolBench {
    var state: PoolState
    var now: PoolTime
    /// Written and not answered, oldest first.
    var written: [Written] = []
    var verdicts: [PushID: Verdict] = [:]
    var settled: [(PushID, Verdict)] = []
    var opened: [UInt64] = []
    var openedAt: [PoolTime] = []
    var closed: [UInt64] = []
    var pinged: [UInt64] = []
    var signed: [(token: TokenRef, at: PoolTime)] = []
    var notices: [PoolNotice] = []
    /// What a new connection announces; `nil`: it stays where it is, and the test goes on by hand.
    var streams: Int? = 1000

    struct Written: Equatable {
        let push: PushID
        let ticket: UInt32
        let connection: UInt64
        let token: TokenRef
    }

    init(streams: Int? = 1000, plan change: (inout PoolPlan) -> Void = { _ in }) {
        var plan = PoolPlan(groups: [.init(gateway: .production, key: 0, keyID: "KEY1234567")])
        plan.anyTopic = [.production: 0]
        plan.addresses.spacing = Spacing(perSecond: 0, burst: 3)
        change(&plan)
        now = PoolTime(steady: .zero, wall: WallTime(seconds: 1_795_000_000))
        state = PoolState(plan: plan, jitter: JitterSource(random: nil), at: now)
        self.streams = streams
    }

    static func token(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) } }

    static func facts(
        _ number: Int, _ event: PushEvent = .start, urgent: Bool = false, reissue: Bool = false,
        gateway: Gateway = .production, topic: String = "app", isConfirmed: Bool = true, expiration: Int64 = 0
    ) -> PushFacts {
        let rank: PushRank =
            switch event {
            case .end: .endOrReissue
            case .start: reissue ? .endOrReissue : .start
            case .update: urgent ? .urgentUpdate : .routineUpdate
            }
        return PushFacts(
            event: event, rank: rank, gateway: gateway, to: AddressKey(token: token(number)), topic: topic,
            isConfirmed: isConfirmed, expiration: expiration)
    }

    @discardableResult
    mutating func add(_ facts: PushFacts) -> PushID? {
        let admission = state.add(facts, at: now)
        // What was given up to make room is over before its place is used again.
        for action in state.takeActions() { perform(action) }
        switch admission {
        case .taken(let push):
            verdicts[push] = nil
            return push
        case .replaces(let push):
            settled.append((push, .notSent))
            return push
        case .refused: return nil
        }
    }

    @discardableResult
    mutating func add(_ numbers: Range<Int>, _ event: PushEvent = .start, isConfirmed: Bool = true) -> [PushID] {
        numbers.compactMap { add(PoolBench.facts($0, event, isConfirmed: isConfirmed)) }
    }

    /// One round, and those that it brings about.
    mutating func turn() {
        for _ in 0..<20 {
            state.turn(at: now)
            let actions = state.takeActions()
            if actions.isEmpty { return }
            for action in actions { perform(action) }
        }
    }

    mutating func pass(_ seconds: Double) {
        now = now.advanced(bySeconds: seconds)
        turn()
    }

    mutating func handle(_ event: PoolEvent) {
        state.handle(event, at: now)
        turn()
    }

    private mutating func perform(_ action: PoolAction) {
        switch action {
        case .open(let number, _, _):
            opened.append(number)
            openedAt.append(now)
            guard let streams else { return }
            state.handle(.established(number), at: now)
            state.handle(.settings(number, streams: streams), at: now)
        case .sign(let token): signed.append((token, now))
        case .submit(let push, let ticket, let connection, let token):
            written.append(Written(push: push, ticket: ticket, connection: connection, token: token))
        case .giveUp(let push, let ticket, _):
            written.removeAll { $0.push == push && $0.ticket == ticket }
            state.handle(.unknown(push, ticket: ticket), at: now)
        case .ping(let number): pinged.append(number)
        case .close(let number): closed.append(number)
        case .settle(let push, let verdict):
            verdicts[push] = verdict
            settled.append((push, verdict))
        case .notice(let notice): notices.append(notice)
        }
    }

    // MARK: - The gateway

    static func refusal(_ word: String, _ status: Int) -> Verdict {
        .refused(Refusal(RefusalReason(word), status: status))
    }

    mutating func answer(_ request: Written, _ verdict: Verdict = .accepted, peerSeconds: Int64? = nil) {
        written.removeAll { $0 == request }
        handle(
            .answered(
                request.push, ticket: request.ticket, PoolAnswer(verdict: verdict, peerSeconds: peerSeconds)))
    }

    /// The oldest.
    mutating func answerNext(_ verdict: Verdict = .accepted) { if let first = written.first { answer(first, verdict) } }

    mutating func answerAll(_ verdict: Verdict = .accepted) {
        for _ in 0..<100_000 {
            guard let first = written.first else { return }
            answer(first, verdict)
        }
    }

    mutating func refuseStream(_ request: Written) {
        written.removeAll { $0 == request }
        handle(.notSent(request.push, ticket: request.ticket))
    }

    mutating func lose(_ connection: UInt64, answered: Bool = false) {
        for request in written where request.connection == connection {
            state.handle(.unknown(request.push, ticket: request.ticket), at: now)
        }
        written.removeAll { $0.connection == connection }
        handle(.lost(connection, text: nil))
    }

    func connection(_ number: UInt64) -> ConnectionState? {
        state.groups.lazy.flatMap(\.connections).first { $0.number == number }
    }

    /// A connection that has answered, and is idle.
    mutating func prove(_ number: Int = 900_000) {
        add(PoolBench.facts(number))
        turn()
        answerAll()
        settled = []
    }
}
