import CardRules
import Foundation
import Testing

@testable import Simulation

/// The gateway under clients that are not ours: `curl`, `nghttp`, `h2load` (Debian curl, nghttp2-client).
@Suite(.serialized) struct OtherClientTests {
    static func isThere(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)") }

    private struct Stand {
        let server: GatewayServer
        let folder: URL

        init(_ change: (inout GatewayOptions) -> Void = { _ in }) throws {
            server = try GatewayServerTests.server(options: GatewayModelTests.options(change))
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("gateway-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(server.certificatePEM.utf8).write(to: file("certificate.pem"))
            try Data(#"{"aps":{}}"#.utf8).write(to: file("body"))
        }

        func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

        func url(_ path: String = "/3/device/" + hexText(GatewayModelTests.token)) -> String {
            (server.url(of: .production) ?? "") + path
        }

        var headers: [String] {
            [
                "authorization: bearer \(GatewayModelTests.providerToken())", "apns-topic: \(GatewayModelTests.topic)",
                "apns-push-type: liveactivity", "apns-priority: 10",
            ]
        }

        func end() {
            server.stop()
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// - Returns: standard output and error together.
    private static func run(_ tool: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(tool)")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    @Test(.enabled(if: isThere("curl"), "curl is not installed"))
    func `G11, G12: curl gets 200 without a body, and a reason as JSON`() throws {
        let stand = try Stand()
        defer { stand.end() }
        let common =
            [
                "-sS", "--http2", "--cacert", stand.file("certificate.pem").path, "-m", "20", "-w",
                " %{http_version} %{http_code}",
            ]
            + ["--data-binary", #"{"aps":{}}"#] + stand.headers.flatMap { ["-H", $0] }
        #expect(try Self.run("curl", common + [stand.url()]) == " 2 200")
        #expect(try Self.run("curl", common + [stand.url("/3/device/zz")]) == #"{"reason":"BadDeviceToken"} 2 400"#)
        #expect(try Self.run("curl", common + ["-X", "PUT", stand.url()]).hasSuffix(" 2 405"))
        let plain = try Self.run("curl", ["-sS", "--http1.1", "--no-alpn", "-k", "-m", "20", stand.url()])
        #expect(plain.hasPrefix("curl:"), "without h2 there is nothing: \(plain)")
    }

    @Test(.enabled(if: isThere("nghttp"), "nghttp is not installed"))
    func `G19, G22: nghttp is held to one stream, its PRIORITY frames are ignored, then all go at once`() throws {
        let stand = try Stand()
        defer { stand.end() }
        let urls = (0..<5).map { stand.url("/3/device/a\($0)") }
        let output = try Self.run(
            "nghttp", ["-nv", "-d", stand.file("body").path] + stand.headers.flatMap { ["-H", $0] } + urls)
        let lines = output.split(separator: "\n")
        func places(_ text: String) -> [Int] { lines.indices.filter { lines[$0].contains(text) } }
        #expect(output.contains("send PRIORITY frame"))
        // It does not wait for the first SETTINGS: where it was quicker, what it sent beyond one stream is refused.
        let refused = places("REFUSED_STREAM").count
        #expect(places(":status: 200").count + refused == 5 && refused < 5)
        #expect(places("; Open new stream").count == 5)
        guard refused == 0 else { return }
        // The second request leaves after the limit was raised.
        let raised = places("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000").first ?? .max
        #expect(places("; Open new stream").dropFirst().allSatisfy { $0 > raised })
    }

    @Test(.enabled(if: isThere("h2load"), "h2load is not installed"))
    func `G20: h2load sends thousands over several connections, and each is accepted`() throws {
        let stand = try Stand { $0.streamsBefore = 100 }
        defer { stand.end() }
        let output = try Self.run(
            "h2load",
            ["-n", "3000", "-c", "3", "-m", "50", "-d", stand.file("body").path] + stand.headers.flatMap { ["-H", $0] }
                + [stand.url()])
        #expect(output.contains("3000 succeeded"), "\(output)")
        #expect(stand.server.withModel(of: .production) { $0.counters.accepted } == 3000)
    }
}
