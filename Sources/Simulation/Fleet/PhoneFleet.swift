public import CardRules
internal import Synchronization

/// Simulated phones, as many as wanted, from one seed, with the book of their tokens and a judge that watches them.
///
/// Safe from any thread: a gateway hands pushes over from its own. All in it happens under one lock, and nothing in it
/// calls out. Times given to it should not go back; one that does counts as the newest seen.
public final class PhoneFleet: Sendable {
    private let state: Mutex<State>

    /// - Parameters:
    ///   - handsets: a few have two builds, each a phone of its own.
    ///   - bundleID: of the one app they all have.
    public convenience init(
        handsets: Int, night: FleetNight, seed: UInt64, bundleID: String = "com.example.lineup",
        mix: FleetMix = FleetMix(), options: PhoneOptions = PhoneOptions(), judge: Judge = Judge()
    ) {
        var random = SeededGenerator(seed: seed)
        var profiles: [PhoneProfile] = []
        for number in 0..<handsets {
            // A generator for each owner: a change of the mix for one leaves the others alone.
            var draw = FleetDraw(night: night, mix: mix, app: (bundleID, 4), random: random.split())
            profiles += draw.handset(number)
        }
        self.init(profiles: profiles, seed: random.next(), options: options, judge: judge)
    }

    public init(
        profiles: [PhoneProfile], seed: UInt64, options: PhoneOptions = PhoneOptions(), judge: Judge = Judge()
    ) {
        var random = SeededGenerator(seed: seed)
        let phones = profiles.enumerated().map { number, profile in
            Phone(number: number, profile: profile, options: options, seed: random.next())
        }
        state = Mutex(State(phones: phones, judge: judge))
    }

    public var count: Int { state.withLock { $0.phones.count } }

    public var profiles: [PhoneProfile] { state.withLock { $0.phones.map(\.profile) } }

    public func phone(_ number: Int) -> Phone { state.withLock { $0.phones[number] } }

    /// When a phone acts next by itself, or a report waits to be taken.
    public var nextTime: WallTime? {
        state.withLock { state in
            [state.queue.next, state.reports.first?.at].compactMap { $0 }.min()
        }
    }

    /// Lets the phones live until then.
    /// - Returns: what their apps tell the server, in order of time.
    public func run(until now: WallTime) -> [PhoneReport] { state.withLock { $0.run(until: now) } }

    /// The answer to a call asked the app for its push-to-start token (S14): it reads the token anew and reports what iOS
    /// says. Whoever has just said so does not say it again: a phone that has none would go on without end.
    public func serverAsksForToken(after report: PhoneReport, at now: WallTime) {
        if case .registered = report.body { return }
        state.withLock { $0.serverAsksForToken(of: report.phone, at: now) }
    }

    /// What a gateway knows of a token (ref G3).
    public func standing(of token: [UInt8], at gateway: Gateway) -> TokenStanding {
        state.withLock { $0.book.standing(of: token, at: gateway) }
    }

    /// Hands a push to its phone; one that is for no phone is lost. To be done before the gateway answers 200.
    public func deliver(_ delivery: GatewayDelivery, at now: WallTime) {
        state.withLock { state in
            let read = state.reader.read(delivery.push)
            state.deliver(delivery, read, at: now)
        }
    }

    /// Answers one request at a gateway: decides, tells the judge, delivers. All at once, so that the phone has the push
    /// before the answer can be written.
    /// - Parameter answerArrives: false where the answer will be lost, for the judge to know.
    public func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime, answerArrives: Bool
    ) -> GatewayAnswer {
        let (answer, deliveries) = self.answer(
            request, by: &model, on: &connection, at: now, answerArrives: answerArrives)
        for delivery in deliveries { deliver(delivery, at: now) }
        return answer
    }

    /// The same, but what is to reach a phone is the caller's to `deliver`.
    func answer(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime, answerArrives: Bool, queuedAt: WallTime? = nil
    ) -> (answer: GatewayAnswer, deliveries: [GatewayDelivery]) {
        let gateway = model.gateway
        let answer = model.answer(request, on: &connection, at: now) { standing(of: $0, at: gateway) }
        let push = answer.delivery?.push ?? ReceivedPush(refused: request, apnsID: answer.apnsID)
        let token = answer.delivery?.token ?? tokenBytes(inPath: request.path)
        let arrives = answerArrives && !answer.effect.losesAnswer
        let deliveries = answer.delivery.map { Array(repeating: $0, count: answer.copies) } ?? []
        state.withLock { state in
            let read = state.reader.read(push)
            state.note(
                push, read, to: token, at: gateway, status: answer.status, reason: answer.reason,
                timestamp: answer.timestamp, answerArrives: arrives,
                isLost: answer.status == 200 && deliveries.isEmpty, queuedAt: queuedAt, now)
        }
        return (answer, deliveries)
    }

    /// A gateway refused a request for a reason that has nothing to do with what it holds.
    func refuse(
        _ request: GatewayRequest, at gateway: Gateway, status: Int, reason: String, queuedAt: WallTime?, now: WallTime
    ) {
        let id = request.headers.first { $0.name == "apns-id" }?.value ?? ""
        let push = ReceivedPush(refused: request, apnsID: id)
        state.withLock { state in
            let read = state.reader.read(push)
            state.note(
                push, read, to: tokenBytes(inPath: request.path), at: gateway, status: status, reason: reason,
                timestamp: nil, answerArrives: true, isLost: false, queuedAt: queuedAt, now)
        }
    }

    /// A push to this address never reached the gateway that knows it.
    func isUnsent(to address: PushAddress) {
        state.withLock { state in
            guard let entry = state.book[address.token, address.gateway], let activity = entry.activity else { return }
            state.judge.isUnsent(to: activity, on: entry.phone)
        }
    }

    /// Whose token it is, or was.
    func phone(of token: [UInt8], at gateway: Gateway) -> Int? {
        state.withLock { $0.book[token, gateway]?.phone }
    }

    /// Tells the judge that the server has cleared a token (I7).
    public func serverClears(_ address: PushAddress, at now: WallTime) {
        state.withLock { state in
            let entry = state.book[address.token, address.gateway]
            state.judge.serverClears(
                address, phone: entry?.phone, isLive: entry.map { $0.diedAt == nil } ?? false, at: now)
        }
    }

    /// The judge that watches these phones.
    public func withJudge<Result: Sendable>(_ body: (inout Judge) -> sending Result) -> sending Result {
        state.withLock { body(&$0.judge) }
    }
}

private struct State: Sendable {
    var phones: [Phone]
    var judge: Judge
    var book = TokenBook()
    var queue = TimeQueue()
    /// In order of time.
    var reports: [PhoneReport] = []
    var reader = PushReader()
    var newest = WallTime.distantPast
    /// What the queue holds for each phone.
    var queued: [WallTime?]

    init(phones: [Phone], judge: Judge) {
        self.phones = phones
        self.judge = judge
        queued = Array(repeating: nil, count: phones.count)
        for phone in phones.indices { enqueue(phone) }
    }

    private mutating func enqueue(_ number: Int) {
        let next = phones[number].nextTime
        guard next != queued[number] else { return }
        queued[number] = next
        if let next { queue.insert(number, at: next) }
    }

    mutating func run(until now: WallTime) -> [PhoneReport] {
        newest = max(newest, now)
        while let due = queue.removeFirst(until: now) {
            // Out of date: the phone has acted since, and stands in the queue anew.
            guard queued[due.phone] == due.at else { continue }
            var output = PhoneOutput()
            phones[due.phone].run(until: due.at, into: &output)
            take(output, from: due.phone, at: due.at)
            queued[due.phone] = nil
            enqueue(due.phone)
        }
        let rest = reports.firstIndex { $0.at > now } ?? reports.endIndex
        defer { reports.removeFirst(rest) }
        return Array(reports[..<rest])
    }

    mutating func serverAsksForToken(of number: Int, at now: WallTime) {
        guard phones.indices.contains(number) else { return }
        newest = max(newest, now)
        var output = PhoneOutput()
        phones[number].isAskedForToken(at: newest, into: &output)
        take(output, from: number, at: newest)
    }

    mutating func deliver(_ delivery: GatewayDelivery, _ read: ReadPush, at time: WallTime) {
        newest = max(newest, time)
        guard let entry = book[delivery.token, delivery.gateway] else { return }
        // A push-to-start token that was replaced leads nowhere any more (ref I13).
        if entry.kind == .pushToStart, entry.diedAt != nil { return }
        var output = PhoneOutput()
        phones[entry.phone].receive(delivery.push, read: read, for: entry.target, at: newest, into: &output)
        take(output, from: entry.phone, at: newest)
        enqueue(entry.phone)
    }

    mutating func note(
        _ push: ReceivedPush, _ read: ReadPush, to token: [UInt8], at gateway: Gateway, status: Int, reason: String?,
        timestamp: Int64?, answerArrives: Bool, isLost: Bool, queuedAt: WallTime? = nil, _ now: WallTime
    ) {
        newest = max(newest, now)
        let entry = book[token, gateway]
        var attempt = PushAttempt(
            at: newest, gateway: gateway, token: token, push: push, status: status, reason: reason,
            timestamp: timestamp, answerArrives: answerArrives, isLost: isLost, phone: entry?.phone,
            target: entry?.target)
        attempt.queuedAt = queuedAt
        judge.sees(attempt, read)
    }

    private mutating func take(_ output: PhoneOutput, from number: Int, at now: WallTime) {
        for change in output.tokens {
            book.apply(change, of: number, bundleID: phones[number].profile.bundleID, at: now)
        }
        for (at, event) in output.events { judge.sees(event, on: number, at: at) }
        for report in output.reports {
            judge.leaves(report)
            let place = (reports.lastIndex { $0.at <= report.at } ?? -1) + 1
            reports.insert(report, at: place)
        }
    }
}

extension ReceivedPush {
    /// A refused push, as far as it can be read.
    init(refused request: GatewayRequest, apnsID: String) {
        let fields = RequestFields(request.headers)
        self.init(
            apnsID: apnsID, pushType: fields.pushType ?? "", topic: fields.topic ?? "",
            priority: fields.priority.flatMap { Int($0) } ?? 10, expiration: fields.expiration.flatMap { Int64($0) },
            collapseID: fields.collapseID, payload: request.body)
    }
}

/// The token in a path, empty where there is none.
private func tokenBytes(inPath path: String) -> [UInt8] {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).flatMap { slash in
        bytes(fromHex: String(path[path.index(after: slash)...]))
    } ?? []
}
