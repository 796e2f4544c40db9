import CardRules
import HTTP2
import Lanes
import PushWire
import TLS
import Testing

@testable import PushPool
@testable import Simulation

/// One connection and its peer, both driven by the calling thread: what stands in a socket at a turn is certain.
@Suite(.timeLimit(.minutes(1))) struct PeerEndTests {
    /// A server's connection, and a client's that asks to be read only when a test says so.
    private final class Ends {
        let connection: PoolConnection
        private let epoll: Epoll
        private let listener: Listener
        private let context: TLSContext
        private var peer: TLSConnection?
        private var session: ServerSession?
        private var buffer = [UInt8](repeating: 0, count: 65_536)
        private(set) var requests: [Int32] = []
        var events: [PoolEvent] = []

        init() throws {
            let identity = try ScriptedRig.identity.get()
            context = try TLSContext.server(identity)
            listener = try Listener(on: .loopback(port: 0))
            epoll = try Epoll()
            connection = try PoolConnection(
                number: 1, context: try TLSContext.client(trusting: .pem(identity.certificatePEM)), host: "127.0.0.1",
                address: listener.address)
            try epoll.add(listener.descriptor, .read, token: 0)
            try epoll.add(connection.descriptor, .write, token: 1)
        }

        /// Turns of both, until the test has what it waits for.
        func turns(until isDone: (Ends) -> Bool) throws {
            while !isDone(self) {
                for event in try wait() {
                    switch event.token {
                    case 0: try accept()
                    case 1: advance(event)
                    default: try serve()
                    }
                }
                connection.flush()
                take()
                connection.register(in: epoll)
            }
        }

        private struct Stuck: Error {}

        func wait() throws -> [Epoll.Event] {
            var events: [Epoll.Event] = []
            try epoll.wait(timeoutMilliseconds: 20_000, into: &events)
            guard !events.isEmpty else { throw Stuck() }
            return events
        }

        func advance(_ event: Epoll.Event) { connection.advance(isEnding: event.isEnding, using: &buffer) }

        func take() { connection.takeEvents { events.append($0) } }

        private func accept() throws {
            guard let socket = try listener.accept() else { return }
            let made = try TLSConnection.server(context, socket: socket)
            try epoll.add(made.descriptor, .read, token: 2)
            peer = made
        }

        private func serve() throws {
            guard let peer, try peer.handshake() == .finished else { return }
            let session = try self.session ?? ServerSession(maxConcurrentStreams: 100)
            self.session = session
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                var span = buffer.mutableSpan
                guard case .bytes(let count) = try peer.read(into: &span) else { break }
                try session.receive(buffer.span.extracting(first: count))
            }
            var served: [ServerEvent] = []
            session.takeEvents(into: &served)
            for case .request(let request) in served { requests.append(request.stream) }
            try write()
        }

        private func write() throws {
            guard let peer, let session else { return }
            var bytes: [UInt8] = []
            try session.collect(into: &bytes)
            if !bytes.isEmpty { #expect(try peer.write(bytes.span) == .bytes(bytes.count)) }
        }

        /// The answer, and behind it the end without a goodbye of TLS or HTTP/2.
        func answerAndLeave() throws {
            for stream in requests { try session?.respond(to: stream, status: 200) }
            try write()
            (peer, session) = (nil, nil)
        }

        func submit(_ number: Int) -> PoolConnection.Submission {
            let token = ProviderToken(
                claims: ProviderTokenClaims(keyID: "KEY1234567", teamID: "TEAM123456", issuedAt: 0), jwt: [0x61])
            var headers = OwnHeaders()
            return connection.submit(
                ScriptedRig.push(number, sink: Collector()).request, token: token, authority: Array("localhost".utf8),
                tag: UInt64(number), using: &headers)
        }
    }

    @Test
    func `L2: an answer and the end behind it are read in one turn: what comes next is not sent, and not unknown`()
        throws
    {
        let ends = try Ends()
        try ends.turns { $0.events.contains(.settings(1, streams: 100)) }
        #expect(ends.submit(0) == .taken)
        try ends.turns { !$0.requests.isEmpty }
        try ends.answerAndLeave()
        ends.events = []
        // Both are there before the one turn that is looked at.
        var event: Epoll.Event?
        while event == nil { event = try ends.wait().first { $0.token == 1 && $0.isEnding } }
        if let event { ends.advance(event) }
        #expect(ends.submit(1) == .noRoom)
        ends.take()
        let answer = PoolAnswer(verdict: .accepted)
        #expect(ends.events == [.answered(PushID.parts(ofTag: 0).0, ticket: 0, answer), .lost(1, text: nil)])
    }
}
