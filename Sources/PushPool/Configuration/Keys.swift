public import CardRules
public import TLS

extension PushPool.Configuration {
    /// A key for provider tokens as Apple gives it (ref K1, K7).
    public struct Key: Hashable, Sendable, CustomStringConvertible {
        /// 10 characters: `kid`.
        public let keyID: String
        /// 10 characters: `iss`.
        public let teamID: String
        let pem: String
        let path: String?

        /// - Parameter pem: the content of the `.p8`.
        public init(pem: String, keyID: String, teamID: String) {
            (self.pem, self.keyID, self.teamID) = (pem, keyID, teamID)
            path = nil
        }

        /// Reads the file now. What is in it is looked at when the pool is made.
        public init(file: String, keyID: String, teamID: String) throws(TLSError) {
            pem = try SigningKey.pem(file: file)
            (path, self.keyID, self.teamID) = (file, keyID, teamID)
        }

        /// Apple names its files `AuthKey_KEYID.p8`; `nil` for any other name.
        var idInFileName: String? {
            guard let name = path?.split(separator: "/").last, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else {
                return nil
            }
            return String(name.dropFirst(8).dropLast(3))
        }

        /// The key stays out of logs.
        public var description: String { "key \(keyID) of team \(teamID)" }
    }

    /// One app: its pushes go with its own key of each gateway (ref K6 to K8).
    public struct App: Hashable, Sendable {
        public let bundleID: String
        public let keys: [Gateway: Key]

        public init(bundleID: String, keys: [Gateway: Key]) {
            self.bundleID = bundleID
            self.keys = keys
        }

        /// The same key for both gateways.
        public init(bundleID: String, key: Key) {
            self.init(bundleID: bundleID, keys: [.production: key, .sandbox: key])
        }

        /// `apns-topic` of its pushes (ref 1.2).
        var topic: String { bundleID + ".push-type.liveactivity" }
    }

    /// Which key signs for which push.
    public enum Keys: Hashable, Sendable {
        /// One for all.
        case one(Key)
        /// Each app's own; a push for no app of these ends as not sent.
        case ofApps([App])
    }
}

extension PushPool.Configuration {
    /// The distinct keys, and the groups and routes that follow from them: one group a gateway, team and key (G6).
    func plan() -> (keys: [Key], plan: PoolPlan) {
        var distinct: [Key] = []
        var plan = PoolPlan(groups: [])
        func group(_ gateway: Gateway, _ key: Key) -> Int {
            let index = distinct.firstIndex { $0.keyID == key.keyID && $0.teamID == key.teamID }
            if index == nil { distinct.append(key) }
            let wanted = PoolPlan.Group(gateway: gateway, key: index ?? distinct.count - 1, keyID: key.keyID)
            if let known = plan.groups.firstIndex(of: wanted) { return known }
            plan.groups.append(wanted)
            return plan.groups.count - 1
        }
        for gateway in Gateway.allCases where gateways[gateway] != nil {
            switch keys {
            case .one(let key): plan.anyTopic[gateway] = group(gateway, key)
            case .ofApps(let apps):
                for app in apps {
                    guard let key = app.keys[gateway] else { continue }
                    plan.routes[gateway, default: [:]][app.topic] = group(gateway, key)
                }
            }
        }
        plan.keys = distinct.count
        plan.timeoutSeconds = timeoutSeconds
        plan.perSecond = perSecond
        plan.group.connections = max(1, connections)
        plan.group.maxStreams = max(1, maxStreams)
        plan.group.connectSeconds = connectSeconds
        plan.group.backoff = backoff
        plan.group.opensPerMinute = max(1, opensPerMinute)
        plan.group.shrinkSeconds = shrinkSeconds
        plan.group.pingSeconds = pingSeconds
        plan.group.timeoutSeconds = timeoutSeconds
        plan.group.oldSeconds = oldSeconds
        plan.token.minSeconds = tuning.tokenMinSeconds
        plan.token.maxSeconds = tuning.tokenMaxSeconds
        plan.faults.inARow = max(1, tuning.faultsInARow)
        plan.faults.probeSeconds = tuning.probeSeconds
        plan.addresses.spacing = Spacing(perSecond: perTokenPerSecond, burst: 3)
        plan.addresses.slowSeconds = tuning.slowSeconds
        plan.addresses.slowMaxSeconds = tuning.slowMaxSeconds
        return (distinct, plan)
    }
}
