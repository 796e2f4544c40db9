import CardRules
import HTTP2
import TLS

@testable import Simulation

/// A plain client of the gateway server. It blocks its thread until what it waits for has come.
final class WireClient {
    let session: ClientSession
    private let tls: TLSConnection
    private let epoll: Epoll
    private var events: [ClientEvent] = []
    private var outgoing: [UInt8] = []
    var answers: [UInt64: RequestOutcome] = [:]
    var limits: [Int] = []
    var goaway: [UInt8]?
    private(set) var isClosed = false

    init(to server: GatewayServer, _ gateway: Gateway, protocols: [String] = ["h2"]) throws {
        guard let address = server.address(of: gateway) else { throw SocketClosed() }
        let socket = try Socket.connect(to: address)
        let context = try TLSContext.client(trusting: .pem(server.certificatePEM), protocols: protocols)
        tls = try TLSConnection.client(context, host: "127.0.0.1", socket: socket)
        session = try ClientSession()
        epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(tls.descriptor, .write, token: 0)
        var ready: [Epoll.Event] = []
        try epoll.wait(timeoutMilliseconds: nil, into: &ready)
        handshake: while true {
            switch try tls.handshake() {
            case .finished: break handshake
            case .wantsRead: try epoll.modify(tls.descriptor, .read, token: 0)
            case .wantsWrite: try epoll.modify(tls.descriptor, .write, token: 0)
            }
            try epoll.wait(timeoutMilliseconds: nil, into: &ready)
        }
        try run { limits.count >= 1 }
    }

    struct SocketClosed: Error {}

    func submit(
        _ request: GatewayRequest, tag: UInt64, pathIndexing: HeaderBlock.Indexing = .literal
    ) throws {
        var block = HeaderBlock()
        block.append(":method", request.method)
        block.append(":scheme", "https")
        block.append(":authority", "127.0.0.1")
        block.append(":path", request.path, pathIndexing)
        for field in request.headers {
            switch field.name {
            case "authorization": block.append("authorization", field.value, .literal)
            case "apns-id": block.append("apns-id", field.value)
            case "apns-topic": block.append("apns-topic", field.value)
            case "apns-push-type": block.append("apns-push-type", field.value)
            case "apns-priority": block.append("apns-priority", field.value)
            case "apns-expiration": block.append("apns-expiration", field.value)
            default: break
            }
        }
        try session.submit(block, body: request.body, tag: tag)
    }

    /// Sends and receives until it is so, or the connection has ended.
    func run(until isDone: () -> Bool) throws {
        var ready: [Epoll.Event] = []
        while true {
            try session.collect(into: &outgoing, upTo: 1 << 20)
            while !outgoing.isEmpty {
                let bytes = outgoing
                guard case .bytes(let count) = try tls.write(bytes.span) else { break }
                outgoing.removeFirst(count)
            }
            if isDone() || isClosed { return }
            try epoll.modify(tls.descriptor, outgoing.isEmpty ? .read : [.read, .write], token: 0)
            try epoll.wait(timeoutMilliseconds: nil, into: &ready)
            try read()
        }
    }

    private func read() throws {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        reading: while true {
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                try session.receive(buffer.span.extracting(first: count))
            case .wantsRead, .wantsWrite: break reading
            case .closed:
                isClosed = true
                session.abandon()
                break reading
            }
        }
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .settings(let limit): limits.append(limit)
            case .closed(let end): answers[end.tag] = end.outcome
            case .goaway(_, _, let debug): goaway = debug
            case .pong, .failed: break
            }
        }
    }
}
