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

    @Test func `serve: a file with damaged pages is named with what to do, and left as it is`() async throws {
        try await DaemonFixture.inPlace { fixture in
            let text = fixture.configuration("store: { url: 'sqlite:night.db' }")
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: text)
            for number in 0..<200 {
                let (path, body) = device(number)
                #expect(try await daemon.put(path, body, key: fixture.key).hasSuffix(" 204"))
            }
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))

            let path = fixture.folder.appendingPathComponent("night.db").path
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            let pages = try handle.seekToEnd() / 8192
            try #require(pages > 8, "enough to damage some in the middle")
            for page in 4..<pages - 1 {
                try handle.seek(toOffset: page * 8192 + 8)
                try handle.write(contentsOf: Data(repeating: 0xff, count: 4000))
            }
            try handle.close()
            let damaged = try Data(contentsOf: URL(fileURLWithPath: path))

            let outcome = try await BuiltProgram.run(
                ["serve", "--config", RunningDaemon.configurationName, "--set", "http.address=127.0.0.1:0"],
                in: fixture.folder)
            #expect(outcome.code == 1 && outcome.output.isEmpty)
            let words = try #require(outcome.errors.last)
            #expect(words.contains("night.db") && words.contains("is damaged: "), "\(words)")
            #expect(words.contains("Restore a backup") && words.contains(".recover"), "\(words)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
        }
    }
}
