public import CardRules

/// What happens to a push between its 200 and the phone: kept for one that is out of reach, held for one that sleeps
/// (ref 8.2, G25, G26), and written down (G30). Pure.
public struct DeliveryDesk: Sendable {
    /// How a phone can be reached now.
    public enum Reach: String, Hashable, Sendable, CaseIterable {
        case online
        /// Priority 10 wakes it; 5 and 1 wait, and come in a batch.
        case asleep
        /// One message waits for each token and bundle; the newest, by the options.
        case offline
    }

    public struct Options: Hashable, Sendable {
        /// G26: how long a batch for a sleeping phone gathers, seconds.
        public var batchSeconds: Double = 60
        /// G25: which of two messages stays is drawn; else it is the newest. G26: those of a batch change places.
        public var isChaotic = false
        /// G25: how long a message without `apns-expiration` is kept, seconds.
        public var keptSeconds: Double = 30 * 86_400
        /// G30: entries kept, the newest.
        public var logKept = 1000

        public init() {}
    }

    /// What became of one push (ref F1, F2).
    public struct Entry: Hashable, Sendable {
        public let apnsID: String
        /// Only from the sandbox.
        public let uniqueID: String?
        public let token: [UInt8]
        public let at: WallTime
        public let fate: Fate
    }

    public enum Fate: Hashable, Sendable {
        case delivered
        /// Waits for the phone.
        case stored
        case discarded(Reason)

        public enum Reason: String, Hashable, Sendable, CaseIterable {
            /// A newer one took its place (ref T10).
            case replaced
            /// Its `apns-expiration` has passed.
            case expired
            /// `apns-expiration` 0, and the phone was out of reach.
            case notKept
        }
    }

    public struct Counters: Hashable, Sendable {
        public internal(set) var delivered = 0
        public internal(set) var stored = 0
        public internal(set) var discarded: [Fate.Reason: Int] = [:]
    }

    private struct Held: Sendable {
        let delivery: GatewayDelivery
        let uniqueID: String?
        let until: WallTime
    }

    private struct Place: Hashable, Sendable {
        let token: [UInt8]
        let gateway: Gateway
    }

    public let options: Options
    public private(set) var counters = Counters()
    /// Oldest first.
    public private(set) var log: [Entry] = []
    private var reaches: [[UInt8]: Reach] = [:]
    private var stored: [Place: Held] = [:]
    private var batches: [[UInt8]: (due: WallTime, held: [Held])] = [:]
    private var random: SeededGenerator

    public init(options: Options = Options(), seed: UInt64) {
        self.options = options
        random = SeededGenerator(seed: seed)
    }

    public func reach(of token: [UInt8]) -> Reach { reaches[token] ?? .online }

    /// When time alone delivers something; `nil`: it does not.
    public var nextTime: WallTime? { batches.values.map(\.due).min() }

    /// A push that the gateway has accepted.
    /// - Returns: what reaches phones now, in order.
    public mutating func take(
        _ delivery: GatewayDelivery, uniqueID: String? = nil, at now: WallTime
    ) -> [GatewayDelivery] {
        let expiration = delivery.push.expiration
        let until =
            expiration.map { WallTime(seconds: $0) } ?? now.advanced(bySeconds: options.keptSeconds)
        let held = Held(delivery: delivery, uniqueID: uniqueID, until: until)
        switch reach(of: delivery.token) {
        case .online: return [deliver(held, at: now)]
        case .asleep where delivery.push.priority == 10: return [deliver(held, at: now)]
        case .asleep:
            if expiration == 0 { return discard(held, .notKept, at: now) }
            note(held, .stored, at: now)
            var batch = batches[delivery.token] ?? (now.advanced(bySeconds: options.batchSeconds), [])
            batch.held.append(held)
            batches[delivery.token] = batch
            return []
        case .offline:
            if expiration == 0 { return discard(held, .notKept, at: now) }
            return store(held, at: now)
        }
    }

    /// - Returns: what reaches the phone for it, in order.
    public mutating func set(_ reach: Reach, of token: [UInt8], at now: WallTime) -> [GatewayDelivery] {
        reaches[token] = reach == .online ? nil : reach
        switch reach {
        case .online: return release(token, at: now)
        case .asleep: return []
        case .offline:
            // What was held for its sleep is now one message.
            for held in batches.removeValue(forKey: token)?.held ?? [] { _ = store(held, at: now) }
            return []
        }
    }

    /// - Returns: the batches that are due, and what is in them.
    public mutating func run(until now: WallTime) -> [GatewayDelivery] {
        var result: [GatewayDelivery] = []
        let due = batches.filter { $0.value.due <= now }.sorted {
            ($0.value.due, hexText($0.key)) < ($1.value.due, hexText($1.key))
        }
        for (token, _) in due { result += releaseBatch(token, at: now) }
        return result
    }

    private mutating func release(_ token: [UInt8], at now: WallTime) -> [GatewayDelivery] {
        var result = releaseBatch(token, at: now)
        for gateway in Gateway.allCases {
            guard let held = stored.removeValue(forKey: Place(token: token, gateway: gateway)) else { continue }
            result += deliverOrExpire(held, at: now)
        }
        return result
    }

    private mutating func releaseBatch(_ token: [UInt8], at now: WallTime) -> [GatewayDelivery] {
        guard var held = batches.removeValue(forKey: token)?.held else { return [] }
        if options.isChaotic { held.shuffle(using: &random) }
        var result: [GatewayDelivery] = []
        for entry in held { result += deliverOrExpire(entry, at: now) }
        return result
    }

    private mutating func store(_ held: Held, at now: WallTime) -> [GatewayDelivery] {
        let place = Place(token: held.delivery.token, gateway: held.delivery.gateway)
        if let older = stored[place] {
            if options.isChaotic, random.chance(0.5) { return discard(held, .replaced, at: now) }
            _ = discard(older, .replaced, at: now)
        }
        stored[place] = held
        note(held, .stored, at: now)
        return []
    }

    private mutating func deliverOrExpire(_ held: Held, at now: WallTime) -> [GatewayDelivery] {
        held.until <= now ? discard(held, .expired, at: now) : [deliver(held, at: now)]
    }

    private mutating func deliver(_ held: Held, at now: WallTime) -> GatewayDelivery {
        note(held, .delivered, at: now)
        return held.delivery
    }

    private mutating func discard(_ held: Held, _ reason: Fate.Reason, at now: WallTime) -> [GatewayDelivery] {
        note(held, .discarded(reason), at: now)
        return []
    }

    private mutating func note(_ held: Held, _ fate: Fate, at now: WallTime) {
        switch fate {
        case .delivered: counters.delivered += 1
        case .stored: counters.stored += 1
        case .discarded(let reason): counters.discarded[reason, default: 0] += 1
        }
        guard options.logKept > 0 else { return }
        if log.count >= 2 * options.logKept { log.removeFirst(options.logKept) }
        log.append(
            Entry(
                apnsID: held.delivery.push.apnsID, uniqueID: held.uniqueID, token: held.delivery.token, at: now,
                fate: fate))
    }
}
