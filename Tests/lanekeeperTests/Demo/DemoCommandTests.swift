import Foundation
import Testing

@testable import lanekeeper

/// The command as people use it: the built program as a process of its own.
@Suite(.enabled(if: BuiltProgram.url != nil, "the program was not built"), .timeLimit(.minutes(2)))
struct DemoCommandTests {
    private static let slate = [
        #"{"t":1794699000,"type":"game","game":"g","sport":"basketball","league":"NBA","home":"A","away":"B","startsAt":1794700800}"#,
        #"{"t":1794700800,"type":"score","game":"g","phase":"live","home":0,"away":0,"period":1}"#,
        #"{"t":"soon","type":"score","game":"g","home":2}"#,
        #"{"t":1794700860,"type":"score","game":"g","home":2,"away":0}"#,
        #"{"t":1794701400,"type":"score","game":"g","phase":"final","home":20,"away":18}"#,
    ]

    private static let quick = ["demo", "--headless", "--speed", "max", "--phones", "3"]

    @Test func `demo: a bad line is named with file and line, counted and skipped, and the night goes on`() async throws
    {
        try await BuiltProgram.inFolder { folder in
            try Self.slate.joined(separator: "\n").write(
                to: folder.appendingPathComponent("night.ndjson"), atomically: true, encoding: .utf8)
            let outcome = try await BuiltProgram.run(
                Self.quick + ["--slate", "night.ndjson", "--report", "report.json"], in: folder)
            #expect(outcome.code == 0)
            #expect(
                outcome.errors == ["lanekeeper: night.ndjson:3: t: must be a number of Unix seconds (column 6)"])
            #expect(outcome.output.contains("  played       1 games, 4 lines"))
            #expect(outcome.output.contains("  rejected     1 line of the slate\n"))
            let report = try JSONSerialization.jsonObject(
                with: Data(contentsOf: folder.appendingPathComponent("report.json")))
            let counts = try #require(report as? [String: Any])
            #expect(counts["rejectedLines"] as? Int == 1 && counts["lines"] as? Int == 4)
        }
    }

    @Test func `demo: asked to stop it leaves in order, says so, and leaves nothing behind`() async throws {
        try await BuiltProgram.inFolder { folder in
            let (seen, folders) = (Pipe(), folder.appendingPathComponent("tmp"))
            try FileManager.default.createDirectory(at: folders, withIntermediateDirectories: true)
            let process = Process()
            process.executableURL = BuiltProgram.url
            // At this speed only a signal ends it within the test's time; the first line says that it is under way.
            process.arguments = ["demo", "--headless", "--phones", "3", "--speed", "max", "--slate", "long.ndjson"]
            process.currentDirectoryURL = folder
            process.environment = ["TMPDIR": folders.path, "PATH": "/usr/bin"]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = seen
            try Self.long.joined(separator: "\n").write(
                to: folder.appendingPathComponent("long.ndjson"), atomically: true, encoding: .utf8)
            let ended = AsyncStream<Void>.makeStream()
            process.terminationHandler = { _ in ended.continuation.finish() }
            try process.run()
            var output = seen.fileHandleForReading.availableData
            process.terminate()
            output += try seen.fileHandleForReading.readToEnd() ?? Data()
            for await _ in ended.stream {}
            #expect(process.terminationStatus == 0)
            #expect(String(decoding: output, as: UTF8.self).contains("before the night was over"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folders.path) == [])
        }
    }

    @Test func `demo: when its reader goes away it leaves quietly`() async throws {
        try await BuiltProgram.inFolder { folder in
            let (seen, errors) = (Pipe(), Pipe())
            let process = Process()
            process.executableURL = BuiltProgram.url
            process.arguments = Self.quick + ["--slate", "long.ndjson"]
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = seen
            process.standardError = errors
            try Self.long.joined(separator: "\n").write(
                to: folder.appendingPathComponent("long.ndjson"), atomically: true, encoding: .utf8)
            let ended = AsyncStream<Void>.makeStream()
            process.terminationHandler = { _ in ended.continuation.finish() }
            try process.run()
            try seen.fileHandleForWriting.close()
            _ = seen.fileHandleForReading.availableData
            try seen.fileHandleForReading.close()
            for await _ in ended.stream {}
            #expect(process.terminationReason == .exit)
            #expect(process.terminationStatus == 0)
            #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
        }
    }

    /// A game whose lines go on for a virtual month.
    private static let long =
        slate.prefix(2)
        + (1...3000).map {
            #"{"t":\#(1_794_700_800 + $0 * 900),"type":"score","game":"g","home":\#($0),"away":0}"#
        }

    @Test func `demo: a file that is not there, or a folder, is one line and exit 2`() async throws {
        try await BuiltProgram.inFolder { folder in
            for (path, reason) in [
                ("nowhere.ndjson", "there is no such file; is the path right?"), (".", "it is a folder; name a file"),
            ] {
                let outcome = try await BuiltProgram.run(Self.quick + ["--slate", path], in: folder)
                #expect(outcome.code == 2 && outcome.output.isEmpty)
                #expect(outcome.errors == ["lanekeeper: \(path) cannot be read: \(reason)"])
            }
        }
    }

    @Test(arguments: [
        ("", "no line in it"), ("\n \n", "no line in it"),
        ("rubbish\n", "its one line cannot be used; line 1: \"r\" cannot stand here (column 1)"),
        (
            "\n{\"t\":1,\"type\":\"score\"}\n[]\n",
            "none of its 2 lines can be used; line 2: game: is missing"
        ),
    ])
    func `demo: a file with no usable line is one line and exit 2`(text: String, fault: String) async throws {
        try await BuiltProgram.inFolder { folder in
            try text.write(to: folder.appendingPathComponent("bad.ndjson"), atomically: true, encoding: .utf8)
            let outcome = try await BuiltProgram.run(Self.quick + ["--slate", "bad.ndjson"], in: folder)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            #expect(outcome.errors == ["lanekeeper: bad.ndjson: \(fault)"])
        }
    }

    @Test func `demo: scores of games that nobody announced are one line and exit 2, not a night without end`()
        async throws
    {
        try await BuiltProgram.inFolder { folder in
            try #"{"t":1794700810,"type":"score","game":"g","home":0,"away":1,"period":1,"phase":"live"}"#.write(
                to: folder.appendingPathComponent("night.ndjson"), atomically: true, encoding: .utf8)
            let outcome = try await BuiltProgram.run(Self.quick + ["--slate", "night.ndjson"], in: folder)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            #expect(
                outcome.errors == [
                    "lanekeeper: no game is announced: scores count once their game has a line of type game"
                ])
        }
    }

    @Test func `demo: a report that cannot be written is exit 1, after the summary`() async throws {
        try await BuiltProgram.inFolder { folder in
            try Self.slate.joined(separator: "\n").write(
                to: folder.appendingPathComponent("night.ndjson"), atomically: true, encoding: .utf8)
            let outcome = try await BuiltProgram.run(
                Self.quick + ["--slate", "night.ndjson", "--report", "no/such/report.json"], in: folder)
            #expect(outcome.code == 1 && outcome.output.contains("The night is over"))
            #expect(
                outcome.errors.last
                    == "lanekeeper: no/such/report.json cannot be written: is there such a folder, and may it be written to?"
            )
        }
    }

    @Test func `the command line: wrong use is one line and exit 2, help is exit 0 on standard output`() async throws {
        try await BuiltProgram.inFolder { folder in
            for (arguments, line) in [
                (["demo", "--phones", "0"], "--phones takes a whole number from 1 to 100000, not 0"),
                (["demo", "--speed"], "--speed needs a value"),
                (["demo", "a\nb"], "a b is no option of demo; see lanekeeper demo --help"),
                (["dance"], "dance is no command; see lanekeeper --help"),
            ] {
                let outcome = try await BuiltProgram.run(arguments, in: folder)
                #expect(outcome.code == 2 && outcome.output.isEmpty && outcome.errors == ["lanekeeper: \(line)"])
            }
            for arguments in [["--help"], ["-h"], ["help"], ["demo", "--help"], ["demo", "--phones", "-h"]] {
                let outcome = try await BuiltProgram.run(arguments, in: folder)
                #expect(outcome.code == 0 && outcome.errors.isEmpty && outcome.output.contains("demo"))
            }
            #expect(try await BuiltProgram.run([], in: folder).code == 2)
        }
    }
}
