internal import CardRules
internal import Lanes
internal import PushWire

/// Names one push while the pool holds it; used again afterwards.
struct PushID: Hashable, Sendable {
    let place: Int
}

/// G7: who goes first.
enum PushRank: Int, CaseIterable, Comparable, Sendable {
    case endOrReissue
    case start
    case urgentUpdate
    case routineUpdate

    static func < (left: PushRank, right: PushRank) -> Bool { left.rawValue < right.rawValue }
}

/// A device token as a key, hashed once. By the standard library's hash, whose seed nobody outside knows: tokens come from
/// phones and tests, and may be as much alike as anybody likes.
struct AddressKey: Hashable, Sendable {
    let token: [UInt8]
    /// Its hash; never 0.
    let bits: UInt64

    init(token: [UInt8]) {
        var hasher = Hasher()
        token.withUnsafeBytes { hasher.combine(bytes: $0) }
        let bits = UInt64(bitPattern: Int64(hasher.finalize()))
        self.init(token: token, bits: bits == 0 ? 1 : bits)
    }

    init(token: [UInt8], bits: UInt64) {
        self.token = token
        self.bits = bits
    }

    static func == (left: AddressKey, right: AddressKey) -> Bool {
        left.bits == right.bits && left.token == right.token
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bits) }
}

/// What the decisions need to know of a push.
struct PushFacts: Equatable, Sendable {
    let event: PushEvent
    let rank: PushRank
    let gateway: Gateway
    let address: AddressKey
    /// Of the app, on its gateway (G3).
    let topic: String
    /// As the caller says (G8); the pool's own memory of failures comes on top.
    let isConfirmed: Bool
    /// `apns-expiration`, Unix seconds (P10); 0: none.
    let expiration: Int64

    @inline(__always)  // so that the push itself is not copied
    init(_ push: OutgoingPush) {
        event = push.request.event
        rank =
            switch push.request.event {
            case .end: .endOrReissue
            case .start: push.isReissue ? .endOrReissue : .start
            case .update: push.request.priority == .immediate ? .urgentUpdate : .routineUpdate
            }
        gateway = push.request.address.gateway
        address = AddressKey(token: push.request.address.token)
        topic = push.request.topic
        isConfirmed = push.isConfirmed
        expiration = push.request.expiration
    }

    init(
        event: PushEvent, rank: PushRank, gateway: Gateway = .production, to address: AddressKey, topic: String = "app",
        isConfirmed: Bool = true, expiration: Int64 = 0
    ) {
        self.event = event
        self.rank = rank
        self.gateway = gateway
        self.address = address
        self.topic = topic
        self.isConfirmed = isConfirmed
        self.expiration = expiration
    }
}

/// One moment on both clocks: waits are measured on the steady one, what is stored or sent on the wall.
struct PoolTime: Equatable, Sendable {
    var steady: SteadyTime
    var wall: WallTime

    func advanced(bySeconds seconds: Double) -> PoolTime {
        PoolTime(steady: steady.advanced(bySeconds: seconds), wall: wall.advanced(bySeconds: seconds))
    }
}
