public import CardRules
internal import Lanes
public import TLS

extension PushPool {
    /// Everything the pool must be told. Defaults are those of the rules (G4, G6).
    public struct Configuration: Sendable {
        /// Host name or numeric address, and port, of a gateway.
        public struct Endpoint: Hashable, Sendable {
            public let host: String
            public let port: UInt16

            public init(host: String, port: UInt16 = 443) {
                self.host = host
                self.port = port
            }

            /// `:authority`: the port is named where it is not 443.
            var authority: [UInt8] {
                let name = host.contains(":") ? "[\(host)]" : host
                return Array((port == 443 ? name : "\(name):\(port)").utf8)
            }
        }

        /// How long a gateway is left alone after a connection failed or was over too quickly (ref T21), seconds.
        public struct Backoff: Hashable, Sendable {
            public var firstSeconds: Double
            /// It doubles up to this.
            public var mostSeconds: Double

            public init(firstSeconds: Double = 0.5, mostSeconds: Double = 30) {
                self.firstSeconds = firstSeconds
                self.mostSeconds = mostSeconds
            }

            /// After so many failures in a row, at least 1.
            func seconds(failures: Int) -> Double {
                var seconds = firstSeconds
                for _ in 1..<max(2, min(failures, 64)) where failures > 1 { seconds = min(mostSeconds, seconds * 2) }
                return min(mostSeconds, seconds)
            }

            /// The same with jitter: between half and all of it, so that several nodes do not come back in step (G5).
            func seconds(failures: Int, random: (any RandomSource)?) -> Double {
                guard let random else { return seconds(failures: failures) }
                return seconds(failures: failures) * (0.5 + 0.5 * Double(random.next() >> 11) * 0x1p-53)
            }
        }

        /// A push for a gateway that is not here ends as not sent.
        public var gateways: [Gateway: Endpoint]
        public var trust: TLSContext.Trust
        /// The private key of the provider token, PEM (`.p8`).
        public var keyPEM: String
        public var keyID: String
        public var teamID: String
        public var connectionsPerGateway = 2
        /// Pushes without a verdict that the pool holds; one beyond ends as not sent at once.
        public var maxWaiting = 200_000
        /// A push waits at most this long, ending as not sent, and is then in flight at most this long, ending as
        /// unknown (G6).
        public var timeoutSeconds: Double = 30
        /// A connection that is not ready for requests by then is given up, while what waits for it still has time left
        /// for the next address.
        var connectSeconds: Double { timeoutSeconds / 3 }
        public var tokenMaxSeconds: Int64 = 3000
        public var tokenMinSeconds: Int64 = 1200
        public var backoff = Backoff()

        public init(
            gateways: [Gateway: Endpoint], trust: TLSContext.Trust = .system, keyPEM: String, keyID: String,
            teamID: String
        ) {
            self.gateways = gateways
            self.trust = trust
            self.keyPEM = keyPEM
            self.keyID = keyID
            self.teamID = teamID
        }
    }
}
