import Foundation
import Operations
import Testing

@testable import lanekeeper

/// The daemon where nobody reads what it logs.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct DaemonLogTests {
    @Test
    func `serve: a standard error that nobody reads, or that is closed, keeps it neither from working nor from ending`()
        async throws
    {
        for isClosed in [false, true] {
            try await DaemonFixture.inPlace { fixture in
                try Data(fixture.configuration().utf8).write(to: fixture.folder.appendingPathComponent("c.json5"))
                let (out, errors, ended) = (Lines(), Pipe(), Latch())
                let process = Process()
                process.executableURL = BuiltProgram.url
                process.arguments = ["serve", "--config", "c.json5", "--set", "http.address=127.0.0.1:0"]
                process.currentDirectoryURL = fixture.folder
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = out.pipe()
                process.standardError = errors
                process.terminationHandler = { _ in ended.open() }
                try process.run()
                try errors.fileHandleForWriting.close()
                let address = try #require(await out.next())
                if isClosed { try errors.fileHandleForReading.close() }

                // Far more lines than a pipe holds.
                let answers = try await onOwnThread("curl") { [key = fixture.key] in
                    let curl = Process()
                    curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
                    let body = #"{"user":"u1","gateway":"sandbox","pushToStartToken":"80c3e5a1"}"#
                    curl.arguments = [
                        "-s", "-m", "60", "-w", "%{http_code}\n", "-X", "PUT", "-H", "Authorization: Bearer \(key)",
                        "-H",
                        "Content-Type: application/json", "-d", body, "\(address)/v1/devices/d[1-600]",
                    ]
                    let output = Pipe()
                    curl.standardOutput = output
                    try curl.run()
                    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
                    curl.waitUntilExit()
                    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                }
                #expect(answers.count == 600 && answers.allSatisfy { $0 == "204" })
                process.terminate()
                await ended.wait()
                #expect(process.terminationReason == .exit && process.terminationStatus == 0)
                withExtendedLifetime(errors) {}
            }
        }
    }
}
