@testable import CardRules

/// The phone as the journey knows it: what really stands there.
struct SimulatedPhone {
    let gateway: Gateway
    var pushToStart: [UInt8] = [0xa0, 0]
    var tokensMade: UInt8 = 0
    /// When an earlier push-to-start token stopped leading anywhere.
    var replaced: [[UInt8]: WallTime] = [:]
    var activities: [Activity] = []
    var isOnline = true
    /// What it could not receive or report yet, in order.
    var pushes: [PushOrder] = []
    var calls: [LaneEvent] = []

    struct Activity {
        let id: ActivityID
        let key: CardKey
        let token: [UInt8]
        let startedBy: Card.StartedBy
        let began: WallTime
        var endedAt: WallTime?
        /// The app has reported its token, answered or not.
        var isReported = false
        /// The server can know when it began (L4).
        var isAgeKnown = true
        var newestTimestamp: Int64
        var shown: ShownContent?

        var isAlive: Bool { endedAt == nil }
    }

    func alive(_ key: CardKey) -> [Activity] { activities.filter { $0.isAlive && $0.key == key } }

    func place(of token: [UInt8]) -> Int? { activities.firstIndex { $0.token == token } }

    /// When iOS ends the next of them by itself.
    var nextExpiry: WallTime? {
        activities.filter(\.isAlive).map { $0.began.advanced(bySeconds: 28_800) }.min()
    }
}

/// What a push shows, without its time: two that are equal say the same.
enum ShownContent: Hashable {
    case slate([UInt64], spoilerFree: Bool, front: GameID?)
    case session(UInt64)
    case nothing

    init(_ content: CardContent, _ slate: SlateSnapshot) {
        switch content {
        case .slate(let arrangement):
            let games = arrangement.games.compactMap { slate.game($0) }
            self = .slate(
                games.map { arrangement.spoilerFree ? $0.spoilerFreeFace : $0.face },
                spoilerFree: arrangement.spoilerFree, front: games.first?.id)
        case .session(let show): self = .session(show.session.fingerprint)
        case .nothing: self = .nothing
        }
    }
}

extension Journey {
    // MARK: - The gateway

    /// A push leaves the server for APNs.
    mutating func leave(_ order: PushOrder) {
        if order.timestamp > mark { mark = order.timestamp + 60 }
        judgeLeaving(order)
        let (verdict, reaches) = answer(to: order)
        tell("  \(order.key) \(order.event.rawValue) #\(order.number.value) \(verdict.words), reaches \(reaches)")
        books.left(order, verdict)
        let delay: Double = random.chance(80) ? 0.05 : random.chance(80) ? 2 : 20
        let late: Double = verdict == .unknown ? 30 : delay
        coming.append(Coming(at: at(late), what: .verdict(order, verdict, generation: generation)))
        if reaches { coming.append(Coming(at: at(0.2), what: .push(order))) }
    }

    private mutating func answer(to order: PushOrder) -> (Verdict, reaches: Bool) {
        if plan.faults, !rest {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<5: return (.notSent, false)
            case 5..<10: return (.unknown, truth(of: order).verdict == .accepted && random.chance(50))
            case 10..<12: return (refusal(.tooManyRequests, 429), false)
            case 12..<14: return (refusal(.internalServerError, 500), false)
            case 14..<16: return (refusal(.topicDisallowed, 400), false)
            default: break
            }
        }
        return truth(of: order)
    }

    private func truth(of order: PushOrder) -> (verdict: Verdict, reaches: Bool) {
        let token = order.address.token
        let isRight = order.address.gateway == phone.gateway
        if order.event == .start {
            if token == phone.pushToStart {
                return isRight ? (.accepted, true) : (refusal(.badDeviceToken, 400), false)
            }
            guard isRight, let replaced = phone.replaced[token] else { return (refusal(.badDeviceToken, 400), false) }
            return token.last.map { $0 % 2 == 0 } == true
                ? (.accepted, false) : (refusal(.unregistered, 410, since: replaced), false)
        }
        guard isRight, let place = phone.place(of: token) else { return (refusal(.badDeviceToken, 400), false) }
        guard let ended = phone.activities[place].endedAt else { return (.accepted, true) }
        return now.seconds(since: ended) < 1800
            ? (.accepted, false) : (refusal(.unregistered, 410, since: ended), false)
    }

    private func refusal(_ reason: RefusalReason.Known, _ status: Int, since: WallTime? = nil) -> Verdict {
        .refused(Refusal(.known(reason), status: status, deadSince: since))
    }

    // MARK: - The phone

    mutating func arrive(_ order: PushOrder) {
        guard phone.isOnline else {
            phone.pushes.append(order)
            return
        }
        switch order.event {
        case .start:
            guard order.expiration >= now.unixSeconds - Int64(abs(skew)) - 1 else { return }
            judgeArrivingStart(order)
            guard phone.activities.count(where: \.isAlive) < 5 else { return }
            let place = begin(order.key, .push, timestamp: order.timestamp)
            phone.activities[place].shown = books.content(of: order)
            seen.starts += 1
            if random.chance(80) { reportToken(place, after: Double(random.pick([1, 2, 5, 30]))) }
        case .update, .end:
            guard let place = phone.place(of: order.address.token), phone.activities[place].isAlive else { return }
            guard order.timestamp > phone.activities[place].newestTimestamp else {
                fail("P5: \(order.event.rawValue) of \(order.key) at \(order.timestamp) came after a later one")
                return
            }
            phone.activities[place].newestTimestamp = order.timestamp
            if order.event == .end {
                phone.activities[place].endedAt = now
                seen.ends += 1
                if random.chance(30) { reportOver(place, .ended, after: 2) }
            } else {
                phone.activities[place].shown = books.content(of: order)
                seen.updates += 1
            }
        }
    }

    /// An activity begins on the phone.
    mutating func begin(_ key: CardKey, _ by: Card.StartedBy, timestamp: Int64) -> Int {
        phone.tokensMade &+= 1
        phone.activities.append(
            SimulatedPhone.Activity(
                id: ActivityID(unchecked: "act\(phone.tokensMade)"), key: key, token: [1, phone.tokensMade],
                startedBy: by, began: now, newestTimestamp: timestamp))
        return phone.activities.count - 1
    }

    mutating func reportToken(_ place: Int, after seconds: Double) {
        let activity = phone.activities[place]
        phone.activities[place].isReported = true
        let gateway = random.chance(90) ? phone.gateway : phone.gateway.other
        let tells = random.chance(70)
        let isLate = now.seconds(since: activity.began) > 60
        if !tells, activity.startedBy == .app || isLate { phone.activities[place].isAgeKnown = false }
        call(
            .cardToken(
                CardToken(
                    key: activity.key, activity: activity.id,
                    address: PushAddress(token: activity.token, gateway: gateway), startedBy: activity.startedBy,
                    began: tells ? activity.began : nil)), after: seconds)
    }

    mutating func reportOver(_ place: Int, _ kind: CardReport.Kind, after seconds: Double) {
        let activity = phone.activities[place]
        call(
            .reported(
                CardReport(key: activity.key, kind: kind, activity: activity.id, at: activity.endedAt ?? now)),
            after: seconds)
    }

    /// The app calls the server; offline it waits.
    mutating func call(_ event: LaneEvent, after seconds: Double = 0.1) {
        if phone.isOnline {
            coming.append(Coming(at: at(seconds), what: .call(event)))
        } else {
            phone.calls.append(event)
        }
    }

    mutating func goOnline() {
        phone.isOnline = true
        let (pushes, calls) = (phone.pushes, phone.calls)
        (phone.pushes, phone.calls) = ([], [])
        for order in pushes { arrive(order) }
        for event in calls { call(event) }
    }

    mutating func expireOnPhone() {
        for place in phone.activities.indices where phone.activities[place].isAlive {
            guard now >= phone.activities[place].began.advanced(bySeconds: 28_800) else { continue }
            phone.activities[place].endedAt = now
            seen.expiries += 1
            if random.chance(50) { reportOver(place, .ended, after: 60) }
        }
    }
}
