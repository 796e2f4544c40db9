public import CardRules
public import Intake
internal import Lanes

/// Everything that a daemon is told from outside (api.md, Configuration), typed. `Configuration.settings` says how each
/// value is called, what it may be and what it is for.
public struct Configuration: Hashable, Sendable {
    public var store = Store()
    public var http = HTTP()
    public var apps: [App] = []
    public var apns = APNs()
    public var cluster = Cluster()
    public var feed = Feed()
    public var tuning = Tuning()
    public var log = Log()
    public var console = Console()

    public init() {}

    public struct Store: Hashable, Sendable {
        public var url = Secret(StoreURL.sqlite(path: "lanekeeper.db"))
    }

    public struct HTTP: Hashable, Sendable {
        public var address = HostPort(host: "127.0.0.1", port: 8480)
        public var tls = TLS()
        public var keys: [APIKey] = []
        public var maxBodyBytes = 1_048_576
        public var maxConnections = 10_000

        public struct TLS: Hashable, Sendable {
            /// Both or neither.
            public var certificateFile: ConfiguredFile?
            public var keyFile: ConfiguredFile?
        }
    }

    public struct APNs: Hashable, Sendable {
        public var production = GatewayURL(host: "api.push.apple.com", port: 443)
        public var sandbox = GatewayURL(host: "api.sandbox.push.apple.com", port: 443)
        /// Certificates to trust instead of the system's.
        public var caFile: ConfiguredFile?
        /// Per gateway and key.
        public var connections = 4
        public var maxStreams = 1000
        public var maxWaiting = 200_000
        /// To each gateway.
        public var perSecond = 20_000.0
        public var perTokenPerSecond = 1.0
        public var timeoutSeconds = 30.0

        public subscript(gateway: Gateway) -> GatewayURL {
            switch gateway {
            case .production: production
            case .sandbox: sandbox
            }
        }
    }

    public struct Cluster: Hashable, Sendable {
        /// This node's name; `nil`: the host's.
        public var node: String?
        public var partitions = partitionCount
        public var leaseSeconds = 10.0
    }

    public struct Feed: Hashable, Sendable {
        public var postgres: ConfiguredFeed?
    }

    public struct Log: Hashable, Sendable {
        public var level = LogLevel.info
        public var format = LogFormat.auto
    }

    public struct Console: Hashable, Sendable {
        public var enabled = true
    }
}

/// A table of games that is followed by logical replication.
public struct ConfiguredFeed: Hashable, Sendable {
    public let settings: FeedSettings
    /// As it was written, without a password.
    let shown: JSONValue
}
