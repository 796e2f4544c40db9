internal import CardRules

/// What a gateway remembers of one connection.
public struct GatewayConnection: Hashable, Sendable {
    /// Counts the connections of one gateway.
    public let number: UInt64
    /// How many streams the client may have open now (ref G19, G20): what SETTINGS say.
    public internal(set) var streamLimit: Int
    var providerToken: String?
    /// When this connection first saw `providerToken`.
    var providerTokenSince: WallTime?
    var bound: Binding?
    var wedged: RefusalReason.Known?
    var errors = 0

    struct Binding: Hashable, Sendable {
        let teamID: String
        let keyID: String
    }

    public init(number: UInt64, options: GatewayOptions) {
        self.number = number
        streamLimit = options.streamsBefore
    }
}
