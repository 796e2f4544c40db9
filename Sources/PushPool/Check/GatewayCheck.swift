internal import HTTP2
public import Lanes
public import TLS

/// Tries a gateway out as far as that goes without a push: name, connection, TLS, the peer's SETTINGS.
public enum GatewayCheck {
    public struct Finding: Hashable, Sendable {
        /// Of the peer that answered.
        public let address: String
        /// `TLSv1.3`.
        public let tlsVersion: String
        /// The limit in its first SETTINGS; Apple's is 1 until a provider token was accepted (ref T14).
        public let maxStreams: Int
    }

    /// Why a gateway is of no use, one line for people.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Tries its addresses one after the other. On a thread of its own.
    /// - Parameter timeoutSeconds: for all of it.
    /// - Throws: `Fault` with what came of the last address.
    public static func run(
        _ endpoint: PushPool.Configuration.Endpoint, trust: TLSContext.Trust, timeoutSeconds: Double,
        clock: any SteadyClock
    ) async throws -> Finding {
        let outcome = CheckOutcome()
        let thread = try LoopThread(name: "gateway-check") {
            do {
                outcome.tell(.success(try tryAll(endpoint, trust, timeoutSeconds, clock)))
            } catch {
                outcome.tell(.failure(Fault(description: "\(error)")))
            }
        }
        await thread.finished()
        return try outcome.taken.get()
    }

    private static func tryAll(
        _ endpoint: PushPool.Configuration.Endpoint, _ trust: TLSContext.Trust, _ timeoutSeconds: Double,
        _ clock: any SteadyClock
    ) throws -> Finding {
        let context = try TLSContext.client(trusting: trust)
        let deadline = clock.uptime.advanced(bySeconds: timeoutSeconds)
        let addresses =
            try SocketAddress(ip: endpoint.host, port: endpoint.port).map { [$0] }
            ?? SocketAddress.resolve(host: endpoint.host, port: endpoint.port)
        var last: any Error = Fault(description: "\(endpoint.host) has no address")
        for address in addresses {
            do {
                return try tryOne(endpoint.host, address, context, deadline, clock)
            } catch {
                last = error
            }
        }
        throw last
    }

    private static func tryOne(
        _ host: String, _ address: SocketAddress, _ context: TLSContext, _ deadline: SteadyTime,
        _ clock: any SteadyClock
    ) throws -> Finding {
        let socket = try Socket.connect(to: address)
        let descriptor = socket.descriptor
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(descriptor, .write, token: 0)
        var events: [Epoll.Event] = []
        func wait(for interest: Epoll.Interest, _ what: String) throws {
            try epoll.modify(descriptor, interest, token: 0)
            let milliseconds = deadline.seconds(since: clock.uptime) * 1000
            guard milliseconds > 0 else { throw Fault(description: "\(address): no answer in time, \(what)") }
            try epoll.wait(timeoutMilliseconds: Int32(min(milliseconds + 1, 60_000)), into: &events)
        }

        while events.isEmpty { try wait(for: .write, "connecting") }
        try socket.checkConnected()
        let connection = try TLSConnection.client(context, host: host, socket: socket)
        handshake: while true {
            switch try connection.handshake() {
            case .finished: break handshake
            case .wantsRead: try wait(for: .read, "in the TLS handshake")
            case .wantsWrite: try wait(for: .write, "in the TLS handshake")
            }
        }
        let session = try ClientSession()
        var outgoing: [UInt8] = []
        try session.collect(into: &outgoing)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while session.remoteMaxStreams == nil {
            if !outgoing.isEmpty {
                let bytes = outgoing
                if case .bytes(let count) = try connection.write(bytes.span) { outgoing.removeFirst(count) }
            }
            var span = buffer.mutableSpan
            switch try connection.read(into: &span) {
            case .bytes(let count): try session.receive(buffer.span.extracting(0..<count))
            case .wantsRead: try wait(for: outgoing.isEmpty ? .read : [.read, .write], "waiting for SETTINGS")
            case .wantsWrite: try wait(for: .write, "waiting for SETTINGS")
            case .closed: throw Fault(description: "\(address) closed the connection before its SETTINGS")
            }
        }
        connection.shutdown()
        return Finding(
            address: "\(address)", tlsVersion: connection.version, maxStreams: session.remoteMaxStreams ?? 0)
    }
}
