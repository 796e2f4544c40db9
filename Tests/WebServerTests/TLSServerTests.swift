import Glibc
import TLS
import Testing

@testable import WebServer

@Suite struct TLSServerTests {
    /// A certificate and its key in files of a fresh directory.
    final class Files {
        let configuration: WebServerConfiguration.TLSFiles
        private let directory: String

        init(_ identity: ServerIdentity) throws {
            var template = Array("/tmp/webserver-XXXXXX".utf8CString)
            _ = mkdtemp(&template)
            directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            configuration = .init(certificateFile: "\(directory)/cert.pem", keyFile: "\(directory)/key.pem")
            try write(identity)
        }

        deinit {
            unlink(configuration.certificateFile)
            unlink(configuration.keyFile)
            rmdir(directory)
        }

        func write(_ identity: ServerIdentity) throws {
            write(identity.certificatePEM, to: configuration.certificateFile)
            write(identity.keyPEM, to: configuration.keyFile)
        }

        private func write(_ text: String, to path: String) {
            let file = fopen(path, "w")
            #expect(file != nil)
            if let file {
                fputs(text, file)
                fclose(file)
            }
        }
    }

    private func identity() throws -> ServerIdentity { try .selfSigned(now: Int64(time(nil))) }

    private func rig(_ files: Files) throws -> Rig {
        var configuration = WebServerConfiguration()
        configuration.tls = files.configuration
        return try Rig(configuration)
    }

    @Test func `requests and large answers go through TLS, in parts`() throws {
        let identity = try identity()
        let files = try Files(identity)
        let rig = try rig(files)
        let client = try RawClient(rig.server, trusting: identity.certificatePEM)
        // More than a record each way, and an answer that no socket takes at once.
        let body = String(repeating: "b", count: 200_000)
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        try client.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n" + String(repeating: WireCase.simple, count: 200))
        let answers = try client.readAnswers(202)
        #expect(answers.map(\.status) == [200, 200] + [Int](repeating: 204, count: 200))
        #expect(answers.prefix(2).map(\.body.count) == [200_000, 3 << 20])
        try rig.stop()
    }

    @Test func `the table holds inside TLS too`() throws {
        let identity = try identity()
        let files = try Files(identity)
        let rig = try rig(files)
        for wire in WireCase.all where !wire.isHalfClosed && !wire.statuses.isEmpty {
            let client = try RawClient(rig.server, trusting: identity.certificatePEM)
            try client.send(wire.bytes)
            #expect(try client.readAnswers(wire.statuses.count).map(\.status) == wire.statuses, "\(wire.name)")
            if case .closed = wire.ending { try client.readToEnd() }
        }
        try rig.stop()
    }

    @Test func `a new certificate is shown after a reload, and one of no use is refused`() throws {
        let (first, second) = (try identity(), try identity())
        let files = try Files(first)
        let rig = try rig(files)
        let before = try RawClient(rig.server, trusting: first.certificatePEM)
        try files.write(second)
        try rig.server.reload()
        #expect(throws: TLSError.self) { try RawClient(rig.server, trusting: first.certificatePEM) }
        let after = try RawClient(rig.server, trusting: second.certificatePEM)
        for client in [before, after] {
            try client.send(WireCase.simple)
            #expect(try client.readAnswers(1).map(\.status) == [204])
        }
        try files.write(ServerIdentity(certificatePEM: first.certificatePEM, keyPEM: second.keyPEM))
        #expect(throws: TLSError.self) { try rig.server.reload() }
        #expect(throws: Never.self) { try RawClient(rig.server, trusting: second.certificatePEM) }
        try rig.stop()
    }

    @Test func `a client without ALPN is served, one that speaks HTTP/2 alone is refused`() throws {
        let identity = try identity()
        let files = try Files(identity)
        let rig = try rig(files)
        let client = try RawClient(rig.server, trusting: identity.certificatePEM, protocols: [])
        try client.send(WireCase.simple)
        #expect(try client.readAnswers(1).map(\.status) == [204])
        #expect(throws: TLSError.self) {
            try RawClient(rig.server, trusting: identity.certificatePEM, protocols: ["h2"])
        }
        try rig.stop()
    }

    @Test func `a peer that never finishes the handshake is cut in time`() throws {
        let files = try Files(try identity())
        let rig = try rig(files)
        let client = try rig.client()  // plain
        try client.send([0x16, 3, 1])
        for _ in 0..<50 where !client.isClosed {
            rig.time.advance(seconds: 11)
            rig.server.sweep()
            _ = try client.readToEnd(milliseconds: 50)
        }
        #expect(client.isClosed)
        let plain = try rig.client()
        try plain.send(WireCase.simple)
        try plain.readToEnd()
        #expect(plain.answers.isEmpty)
        try rig.stop()
    }
}
