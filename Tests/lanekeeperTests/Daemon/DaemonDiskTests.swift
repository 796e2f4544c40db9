import Foundation
import Operations
import Testing

@testable import lanekeeper

/// The daemon on a disk that is full. What may be written is bounded as a full disk would bound it.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct DaemonDiskTests {
    /// Until the file is too long: without a signal, as an error of the write.
    private static let bounded = "trap '' XFSZ; ulimit -S -f 2048"

    private func device(_ number: Int) -> (path: String, body: String) {
        let version = String(repeating: "\(number % 10)", count: 250)
        return ("/v1/devices/d\(number)", #"{"user":"u1","appVersion":"\#(version)"}"#)
    }

    @Test func `serve: with a full disk readyz says so, calls are 503, and with room again it goes on by itself`()
        async throws
    {
        try await DaemonFixture.inPlace { fixture in
            let daemon = try await RunningDaemon(
                in: fixture.folder, configuration: fixture.configuration(), shell: Self.bounded)
            #expect(try await daemon.get("/readyz").hasSuffix(" 200"))
            var written = 0
            var answer = ""
            while written < 20_000 {
                let (path, body) = device(written)
                answer = try await daemon.put(path, body, key: fixture.key)
                guard answer.hasSuffix(" 204") else { break }
                written += 1
            }
            #expect(
                written > 0 && answer.contains("the store cannot write now") && answer.hasSuffix(" 503"), "\(answer)")
            let refused = try await daemon.get("/readyz")
            #expect(refused.contains("the store cannot write: ") && refused.hasSuffix(" 503"), "\(refused)")
            #expect(try await daemon.get("/healthz").hasSuffix(" 200"))
            #expect(try await daemon.get("/v1/devices/d0", key: fixture.key).hasSuffix(" 200"))
            #expect(await daemon.logged("the store cannot write") != nil)

            _ = try await onOwnThread("prlimit") { [pid = daemon.pid] in
                let prlimit = Process()
                prlimit.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
                prlimit.arguments = ["--pid", "\(pid)", "--fsize=unlimited:"]
                try prlimit.run()
                prlimit.waitUntilExit()
            }
            #expect(await daemon.logged("the store writes again") != nil)
            #expect(try await daemon.get("/readyz").hasSuffix(" 200"))
            let (path, body) = device(written)
            #expect(try await daemon.put(path, body, key: fixture.key).hasSuffix(" 204"))
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))

            let again = try await RunningDaemon(in: fixture.folder, configuration: fixture.configuration())
            for number in [0, written - 1, written] {
                #expect(try await again.get(device(number).path, key: fixture.key).hasSuffix(" 200"), "\(number)")
            }
            again.send(SIGTERM)
            #expect(await again.ended() == (0, false))
        }
    }
}
