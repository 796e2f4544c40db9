import TLS
import Testing

@Suite struct ConnectionTests {
    let identity: ServerIdentity
    init() throws { identity = try .selfSigned(now: someTime) }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func
        `T1: given a trusted certificate for the host, then TLS 1.3 with h2 is agreed and large transfers arrive both ways`(
            host: String
        ) throws
    {
        let link = try Link(
            client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity), host: host)
        let result = try link.handshake()
        #expect(result.client == nil)
        #expect(result.server == nil)
        #expect(link.client.negotiatedProtocol == "h2")
        #expect(link.server.negotiatedProtocol == "h2")
        #expect(link.client.version == "TLSv1.3")

        let up = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let down = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17 >> 2) }
        let arrived = try link.exchange(fromClient: up, fromServer: down)
        #expect(arrived.atServer == up)
        #expect(arrived.atClient == down)
    }

    @Test func `given a certificate of an unknown authority, then the client refuses it and says so`() throws {
        let other = try ServerIdentity.selfSigned(now: someTime)
        let link = try Link(client: .client(trusting: .pem(other.certificatePEM)), server: .server(identity))
        let result = try link.handshake()
        guard case .peerNotTrusted(host: "localhost", let code, let text)? = result.client else {
            Issue.record("\(String(describing: result.client))")
            return
        }
        #expect(code == 18)
        #expect(text.contains("self-signed"))
        guard case .handshakeFailed(let text)? = result.server else {
            Issue.record("\(String(describing: result.server))")
            return
        }
        #expect(text.contains("alert"))
    }

    @Test func `given a simulated certificate, then the system's roots do not trust it`() throws {
        let link = try Link(client: .client(trusting: .system), server: .server(identity))
        guard case .peerNotTrusted? = try link.handshake().client else {
            Issue.record("trusted")
            return
        }
    }

    @Test(arguments: [("api.push.apple.com", 62), ("127.0.0.2", 64)])
    func `given a certificate for another host, then the client refuses it`(host: String, code: Int) throws {
        let link = try Link(
            client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity), host: host)
        guard case .peerNotTrusted(host: host, code: code, _)? = try link.handshake().client else {
            Issue.record("trusted")
            return
        }
    }

    @Test func `given a certificate that has run out, then the client refuses it`() throws {
        let old = try ServerIdentity.selfSigned(now: 1_000_000_000)  // 2001
        let link = try Link(client: .client(trusting: .pem(old.certificatePEM)), server: .server(old))
        guard case .peerNotTrusted(_, code: 10, let text)? = try link.handshake().client else {
            Issue.record("trusted")
            return
        }
        #expect(text.contains("expired"))
    }

    @Test func `T1: given no common protocol, then both sides refuse`() throws {
        let link = try Link(
            client: .client(trusting: .pem(identity.certificatePEM), protocols: ["http/1.1"]), server: .server(identity)
        )
        let result = try link.handshake()
        #expect(result.client == .noCommonProtocol(offered: ["http/1.1"]))
        #expect(result.server == .noCommonProtocol(offered: ["h2"]))
    }

    @Test func `T1: given a server that does not speak ALPN, then the client refuses`() throws {
        let link = try Link(
            client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity, protocols: []))
        #expect(try link.handshake().client == .noCommonProtocol(offered: ["h2"]))
    }

    @Test func `given more records than one read takes, then what OpenSSL has read ahead is known to be there`() throws
    {
        let link = try Link(client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity))
        _ = try link.handshake()
        #expect(!link.server.holdsUnread)
        for part in [[1, 2, 3], [4, 5]] as [[UInt8]] {
            #expect(try link.client.write(part.span) == .bytes(part.count))
        }
        try link.waitForServer()
        var buffer = [UInt8](repeating: 0, count: 2)
        var arrived: [[UInt8]] = []
        // A part of the first record, its rest, and the second: after each read but the last there is more, and epoll
        // would tell of none of it.
        for isMore in [true, true, false] {
            var span = buffer.mutableSpan
            guard case .bytes(let count) = try link.server.read(into: &span) else { break }
            arrived.append(Array(buffer.prefix(count)))
            #expect(link.server.holdsUnread == isMore)
        }
        #expect(arrived == [[1, 2], [3], [4, 5]])
        var span = buffer.mutableSpan
        #expect(try link.server.read(into: &span) == .wantsRead)
        #expect(!link.server.holdsUnread)
    }

    @Test func `given an orderly end, then the other side reads it as closed`() throws {
        let link = try Link(client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity))
        _ = try link.handshake()
        link.server.shutdown()
        var buffer = [UInt8](repeating: 0, count: 100)
        var span = buffer.mutableSpan
        #expect(try link.client.read(into: &span) == .closed)
    }

    @Test func `given a peer that is gone, then writing is an error and not the end of the program`() throws {
        let link = try Link(client: .client(trusting: .pem(identity.certificatePEM)), server: .server(identity))
        _ = try link.handshake()
        link.server.closeWithReset()
        link.server = link.client  // the last reference: closes the socket
        #expect(throws: TLSError.self) {
            for _ in 0..<10 { _ = try link.client.write([1, 2, 3].span) }
        }
    }

    @Test func `given a key that belongs to another certificate, then no server context is made`() throws {
        let other = try ServerIdentity.selfSigned(now: someTime)
        let mixed = ServerIdentity(certificatePEM: identity.certificatePEM, keyPEM: other.keyPEM)
        #expect(throws: TLSError.self) { try TLSContext.server(mixed) }
        #expect(throws: TLSError.self) { try TLSContext.server(ServerIdentity(certificatePEM: "", keyPEM: "")) }
        #expect(throws: TLSError.self) { try TLSContext.client(trusting: .pem("nothing")) }
        #expect(throws: TLSError.self) { try TLSContext.client(trusting: .file("/nowhere/ca.pem")) }
    }
}
