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
            /// - Parameter jitter: 0..<1.
            func seconds(failures: Int, jitter: Double) -> Double { seconds(failures: failures) * (0.5 + jitter / 2) }
        }

        /// A push for a gateway that is not here ends as not sent.
        public var gateways: [Gateway: Endpoint]
        public var trust: TLSContext.Trust
        /// Which key signs for which push.
        public var keys: Keys
        /// G6: of one gateway and key, all of them; a drained one may linger. From two on, a quarter (at least one) is for
        /// addresses that were never confirmed or are failing (G8).
        public var connections = 4
        /// Requests in flight on one connection at most, whatever the peer allows.
        public var maxStreams = 1000
        /// G7: updates without a verdict that the pool holds; one beyond ends as not sent at once. Starts and ends may go a
        /// quarter beyond, and are then handed back.
        public var maxWaiting = 200_000
        /// G7: pushes a second to one gateway; adjustable later (`PushPool.setRate`).
        public var perSecond = 20_000.0
        /// G7: pushes a second to one device token, after a burst of 3; ends and reissues never wait for it. 0: no limit.
        public var perTokenPerSecond = 1.0
        /// A push waits at most this long, ending as not sent, and is then in flight at most this long, ending as
        /// unknown (G6). Seconds of the injected clock, as all of these.
        public var timeoutSeconds = 30.0
        /// A connection that is not ready for requests by then is given up, while what waits for it still has time left
        /// for the next address.
        var connectSeconds: Double { timeoutSeconds / 3 }
        /// Values of the rules: G3 to G5 (`gateway.*`).
        public var tuning = Tuning().gateway
        public var backoff = Backoff()
        /// Connections opened to one gateway with one key in any minute (ref T21).
        public var opensPerMinute = 30
        /// PING after so long without traffic (ref T19).
        public var pingSeconds = 3600.0
        /// A connection that old is replaced (ref T19).
        public var oldSeconds = 7 * 86_400.0
        /// A connection that idle is closed, if another is left.
        public var shrinkSeconds = 600.0

        public init(gateways: [Gateway: Endpoint], trust: TLSContext.Trust = .system, keys: Keys) {
            self.gateways = gateways
            self.trust = trust
            self.keys = keys
        }
    }
}
