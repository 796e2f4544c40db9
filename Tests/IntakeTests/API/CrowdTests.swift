import CardRules
import Crowds
import Lanes
import Simulation
import Synchronization
import TLS
import Testing
import WebServer

@testable import Intake

/// Known fault 20: blocking calls stop every actor.
@Suite(.serialized) struct CrowdTests {
    @Test
    func
        `known fault 20: with 5,000 connections, half of them slow, and a store and APNs that do not answer, the health check does in under 100 ms`()
        async throws
    {
        try await Crowds.alone { try await healthStaysQuick(beside: Crowds.size) }
    }

    private func healthStaysQuick(beside count: Int) async throws {
        let rig = try await APIRig(.socket)
        try await rig.running {
            let address = try #require(rig.address)
            #expect(await rig.register("d1").status == 204)
            rig.pusher.script(nil)  // APNs answers later
            await rig.startWaits("g1")
            rig.store.hold()  // and so does the store
            let crowd = try await onThread { try Crowd(of: count, at: address) }
            await until("the store has something to do") { rig.store.heldCommits > 0 }
            // Other tests want the same cores: what blocks would show in each round, their load does not.
            var slowest = Duration.seconds(1)
            for _ in 0..<10 where slowest >= .milliseconds(100) {
                slowest = try await onThread { try crowd.slowestHealth(of: 100, at: address) }
            }
            #expect(slowest < .milliseconds(100))
            #expect(rig.store.heldCommits > 0, "it has answered nobody meanwhile")
            rig.store.release()
            rig.pusher.answer(.accepted)
            rig.pusher.script(.accepted)
            await rig.supervisor.settle()
            // The registrations that waited are there.
            for number in 0..<20 { #expect(rig.store.lane(DeviceID(unchecked: "crowd\(number)")) != nil) }
            try await onThread { crowd.leave() }
        }
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try LoopThread(name: "crowd") { continuation.resume(with: Result { try work() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}

extension APIRig {
    /// Without waiting for what it brings.
    fileprivate func startWaits(_ game: String) async {
        #expect(await score(game, announcing: true).status == 200)
        await until("a start waits for its answer") { pusher.sent(.start).count == 1 }
    }
}

/// Many connections, most of which do not get on.
private final class Crowd: Sendable {
    private let links: Mutex<[Link]>

    private final class Link: Sendable {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    /// A quarter is silent, a quarter stops within its head or body, a quarter waits for the store, a quarter idles.
    init(of count: Int, at address: SocketAddress) throws {
        var links: [Link] = []
        for number in 0..<count {
            let link = Link(try connected(to: address))
            let text: String
            switch number % 4 {
            case 0: text = ""
            case 1:
                text =
                    number % 8 == 1
                    ? "GET /v1/devices/d1 HTTP/1.1\r\nHos" : Self.put("d1", "{\"user\":\"v\"}", length: 900)
            case 2: text = Self.put("crowd\(number / 4 % 20)", "{\"user\":\"u\"}")
            default: text = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
            }
            if !text.isEmpty { _ = try link.socket.write(Array(text.utf8).span) }
            links.append(link)
        }
        self.links = Mutex(links)
    }

    private static func put(_ device: String, _ body: String, length: Int? = nil) -> String {
        "PUT /v1/devices/\(device) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(APIRig.allKey)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    /// One connection more asks again and again, while some of the others drip on.
    func slowestHealth(of rounds: Int, at address: SocketAddress) throws -> Duration {
        let links = links.withLock { $0 }
        let socket = try connected(to: address)
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(socket.descriptor, .read, token: 0)
        let request = Array("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        var scratch = [UInt8](repeating: 0, count: 4096)
        var slowest = Duration.zero
        var events: [Epoll.Event] = []
        for round in 0..<rounds {
            for number in 0..<40 where number % 4 == 1 {
                _ = try links[(round * 40 + number) % links.count].socket.write(Array("a".utf8).span)
            }
            let start = ContinuousClock.now
            _ = try socket.write(request.span)
            var answer: [UInt8] = []
            while !answer.ends(with: "}") {
                var span = scratch.mutableSpan
                switch try socket.read(into: &span) {
                case .bytes(let count): answer += scratch[..<count]
                case .closed: throw Closed()
                case .wantsRead, .wantsWrite:
                    try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
                    if events.isEmpty { throw Closed() }
                }
            }
            slowest = max(slowest, ContinuousClock.now - start)
        }
        return slowest
    }

    func leave() { links.withLock { $0 = [] } }

    private struct Closed: Error {}
}

private func connected(to address: SocketAddress) throws -> Socket {
    let socket = try Socket.connect(to: address)
    let epoll = try Epoll(eventsPerWait: 1)
    var events: [Epoll.Event] = []
    try epoll.add(socket.descriptor, .write, token: 0)
    try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
    try socket.checkConnected()
    return socket
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
