internal import CardRules

/// Which tokens exist, at which gateway, and what they lead to. A dead one stays: gateways go on answering
/// for it (ref G13). Bounded by the cards of a night: iOS allows about ten starts an hour and phone.
struct TokenBook: Sendable {
    private var entries: [Key: Entry] = [:]

    struct Key: Hashable, Sendable {
        let token: [UInt8]
        let gateway: Gateway

        /// Tokens are random bits: the first eight bytes tell them apart well enough.
        func hash(into hasher: inout Hasher) {
            var first: UInt64 = 0
            for byte in token.prefix(8) { first = first << 8 | UInt64(byte) }
            hasher.combine(first)
            hasher.combine(gateway == .production)
        }
    }

    struct Entry: Sendable {
        let phone: Int
        let kind: TokenKind
        let activity: ActivityID?
        let bundleID: String
        var diedAt: WallTime?

        var target: PushTarget { activity.map(PushTarget.activity) ?? .pushToStart }
    }

    mutating func apply(_ change: TokenChange, of phone: Int, bundleID: String, at now: WallTime) {
        let key = Key(token: change.token, gateway: change.gateway)
        switch change.change {
        case .issued(let kind, let activity):
            entries[key] = Entry(phone: phone, kind: kind, activity: activity, bundleID: bundleID)
        case .died: entries[key]?.diedAt = now
        }
    }

    subscript(token: [UInt8], gateway: Gateway) -> Entry? { entries[Key(token: token, gateway: gateway)] }

    func standing(of token: [UInt8], at gateway: Gateway) -> TokenStanding {
        guard let entry = self[token, gateway] else { return .unknown }
        guard let diedAt = entry.diedAt else { return .live(bundleID: entry.bundleID) }
        return .dead(bundleID: entry.bundleID, since: diedAt, kind: entry.kind)
    }
}
