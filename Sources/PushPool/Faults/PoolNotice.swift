public import CardRules

/// What an operator should hear of, once each time it begins. Its text says what to do.
public enum PoolNotice: Hashable, Sendable, CustomStringConvertible {
    /// G3: pushes of this scope wait, one probes every half minute. `reason` is APNs' word.
    case misconfigured(PoolScope, reason: String)
    /// G5.
    case gatewayInTrouble(Gateway, status: Int)
    case healed(PoolScope)
    /// A push was refused for how it was built, or with a word that no list has.
    case refusedPush(topic: String, reason: String, status: Int)
    /// No app of the configuration has this topic, or its app no key for that gateway: never sent.
    case unknownTopic(String, Gateway)
    /// The peer said goodbye; `text` is its debug data, as it came (ref T17, T18).
    case goaway(Gateway, code: String, text: String)
    /// A connection could not be made, or was lost.
    case connectionFailed(Gateway, text: String)
    /// A request was not answered in time: its connection is drained and replaced (G6).
    case timedOut(Gateway)
    /// Seconds by which this machine's clock is ahead of the gateway's (negative: behind).
    case clockSkew(Gateway, seconds: Int)
    /// The key cannot sign: its pushes end as not sent.
    case cannotSign(keyID: String, text: String)

    public var description: String {
        switch self {
        case .misconfigured(.app(let gateway, let topic), let reason):
            "\(reason) from \(gateway.rawValue) for \(topic), several times in a row: check the app's bundleID, that its key "
                + "may push to it, and that its tokens come from this app. Its pushes wait; one probes every 30 s."
        case .misconfigured(.key(let gateway, let keyID), let reason):
            "\(reason) from \(gateway.rawValue) for the key \(keyID), several times in a row: check keyID, teamID and keyFile, "
                + "whether the key is for this environment or was revoked, and this machine's clock. Its pushes wait; one "
                + "probes every 30 s."
        case .misconfigured(.gateway(let gateway), let reason): "\(reason) from \(gateway.rawValue)"
        case .gatewayInTrouble(let gateway, let status):
            "\(gateway.rawValue) answers \(status), several times in a row: nothing to do here. Its pushes wait; one probes "
                + "every 30 s."
        case .healed(let scope): "\(scope.words) works again"
        case .refusedPush(let topic, let reason, let status):
            "a push for \(topic) was refused with \(status) \(reason): the push itself is wrong, which is a fault of this "
                + "program. No token was touched."
        case .unknownTopic(let topic, let gateway):
            "no app of the configuration pushes to \(topic) on \(gateway.rawValue): nothing was sent"
        case .goaway(let gateway, let code, let text):
            "\(gateway.rawValue) closes a connection: \(code)\(text.isEmpty ? "" : ", \(text)")"
        case .connectionFailed(let gateway, let text): "no connection to \(gateway.rawValue): \(text)"
        case .timedOut(let gateway):
            "\(gateway.rawValue) did not answer a request in time: its connection is replaced"
        case .clockSkew(let gateway, let seconds):
            "this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the clock of "
                + "\(gateway.rawValue): set it right, for from an hour on no provider token is taken"
        case .cannotSign(let keyID, let text): "the key \(keyID) cannot sign: \(text)"
        }
    }
}

extension PoolScope {
    public var words: String {
        switch self {
        case .gateway(let gateway): gateway.rawValue
        case .key(let gateway, let keyID): "the key \(keyID) on \(gateway.rawValue)"
        case .app(let gateway, let topic): "\(topic) on \(gateway.rawValue)"
        }
    }
}
