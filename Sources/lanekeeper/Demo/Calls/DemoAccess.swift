import CardRules
import Intake
import Operations
import PushWire
import TLS

/// Where a demo's API is, and the keys to it: made anew for each demo.
struct DemoAccess: Sendable {
    /// Who calls: each with a key of its own, with the scopes that one would give it.
    enum Caller: String, CaseIterable, Sendable {
        case feed, phones
        /// Whoever looks at the demo from outside.
        case demo

        var scopes: [APIScope] {
            switch self {
            case .feed: [.feed]
            case .phones: [.devices]
            case .demo: APIScope.allCases
            }
        }
    }

    let address: ClientAddress
    private let keys: DemoKeys

    init(address: ClientAddress, keys: DemoKeys) { (self.address, self.keys) = (address, keys) }

    subscript(caller: Caller) -> String { keys[caller] }

    /// For people: where to look, and with what.
    /// - Parameter device: one that is there.
    func lines(device: DeviceID) -> [String] {
        [
            "The API of this demo, until it ends:",
            "  address  \(address)",
            "  key      \(self[.demo])",
            "  try      curl -H 'Authorization: Bearer \(self[.demo])' \(address)/v1/devices/\(device)",
        ]
    }
}

/// The keys of a demo's callers.
struct DemoKeys: Sendable {
    private let texts: [DemoAccess.Caller: String]

    /// - Throws: when the system has no randomness to give.
    init() throws {
        var texts: [DemoAccess.Caller: String] = [:]
        for caller in DemoAccess.Caller.allCases {
            texts[caller] = "lk_\(Base64URL.encode(try SecureRandom.bytes(32)))"
        }
        self.texts = texts
    }

    subscript(caller: DemoAccess.Caller) -> String { texts[caller] ?? "" }

    /// As the configuration has them.
    var configured: [Configuration.APIKey] {
        DemoAccess.Caller.allCases.map { caller in
            var key = Configuration.APIKey()
            key.name = caller.rawValue
            key.scopes = caller.scopes
            key.sha256 = Secret(sha256(Array(self[caller].utf8)))
            return key
        }
    }
}
