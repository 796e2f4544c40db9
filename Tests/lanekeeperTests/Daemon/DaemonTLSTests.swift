import Foundation
import TLS
import Testing

@testable import lanekeeper

/// The API over TLS, from files.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct DaemonTLSTests {
    private static let configuration = """
        { log: { format: 'text' }, http: { tls: { certificateFile: 'cert.pem', keyFile: 'tls.pem' } } }
        """

    /// Writes a fresh identity where the daemon reads it; a copy of its certificate is what curl trusts.
    private func renew(_ copy: String, in folder: URL) throws {
        let identity = try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970))
        for (name, text) in [("cert.pem", identity.certificatePEM), (copy, identity.certificatePEM)] {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        try Data(identity.keyPEM.utf8).write(to: folder.appendingPathComponent("tls.pem"))
    }

    private func health(_ daemon: RunningDaemon, trusting name: String, in folder: URL) async throws -> String {
        try await daemon.curl(["--cacert", folder.appendingPathComponent(name).path], "/healthz")
    }

    @Test func `serve: SIGHUP reads the certificate again; one that is wrong leaves the old one in use`() async throws {
        try await BuiltProgram.inFolder { folder in
            try renew("first", in: folder)
            let daemon = try await RunningDaemon(in: folder, configuration: Self.configuration)
            #expect(daemon.address.hasPrefix("https://"))
            #expect(await daemon.logged("ready") != nil)
            #expect(try await health(daemon, trusting: "first", in: folder).hasSuffix(" 200"))

            try renew("second", in: folder)
            #expect(try await health(daemon, trusting: "second", in: folder).hasSuffix(" 000"), "not before it is told")
            daemon.send(SIGHUP)
            #expect(await daemon.logged("was read again") != nil)
            #expect(try await health(daemon, trusting: "second", in: folder).hasSuffix(" 200"))
            #expect(try await health(daemon, trusting: "first", in: folder).hasSuffix(" 000"))

            try Data("no key".utf8).write(to: folder.appendingPathComponent("tls.pem"))
            daemon.send(SIGHUP)
            #expect(await daemon.logged("the certificate cannot be read again")?.contains("tls.pem") == true)
            #expect(try await health(daemon, trusting: "second", in: folder).hasSuffix(" 200"))

            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `serve: a certificate that is not its key's, or a file that cannot be read, ends it with 1`()
        async throws
    {
        try await BuiltProgram.inFolder { folder in
            try renew("first", in: folder)
            try Data(try SigningKey.freshPEM().utf8).write(to: folder.appendingPathComponent("tls.pem"))
            try Data(Self.configuration.utf8).write(to: folder.appendingPathComponent("c.json5"))
            let words = ["serve", "--config", "c.json5", "--set", "http.address=127.0.0.1:0"]
            let other = try await BuiltProgram.run(words, in: folder)
            #expect(other.code == 1 && other.errors.last?.contains("web server: ") == true, "\(other.errors)")
            try FileManager.default.removeItem(at: folder.appendingPathComponent("cert.pem"))
            let gone = try await BuiltProgram.run(words, in: folder)
            #expect(gone.code == 1 && gone.errors.last?.contains("cert.pem") == true, "\(gone.errors)")
        }
    }
}
