import Foundation
import Testing

/// The command as people use it: the built program as a process of its own.
enum BuiltProgram {
    /// Beside the test bundle.
    static let url: URL? = {
        let own = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        let found = own.deletingLastPathComponent().appendingPathComponent("lanekeeper")
        return FileManager.default.isExecutableFile(atPath: found.path) ? found : nil
    }()

    /// The tests' own, without what is for the tests alone: the program remarks on variables that it does not know.
    ///
    /// Under the address sanitizer the program does not look for leaks at its end: pointers in payloads of enums carry a
    /// mark in Swift, and what a global holds by one counts as lost.
    static let environment = ProcessInfo.processInfo.environment.filter { $0.key != "LANEKEEPER_SLATES" }
        .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { "\($0):\($1)" }

    struct Outcome {
        let code: Int32
        let output: String
        let errors: [String]
    }

    /// A folder for one test, removed afterwards.
    static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("lanekeeper-command-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// Its output goes to files: a pipe that nobody reads would stop it.
    ///
    /// - Parameter environment: added to the tests' own.
    static func run(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let (out, err) = (folder.appendingPathComponent("out"), folder.appendingPathComponent("err"))
        for file in [out, err] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = Self.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        // One that goes on when it should have ended goes with the test.
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                process.terminationHandler = { _ in wake.resume() }
                do { try process.run() } catch { wake.resume(throwing: error) }
            }
        } onCancel: {
            if process.isRunning { process.terminate() }
        }
        return Outcome(
            code: process.terminationStatus, output: try String(contentsOf: out, encoding: .utf8),
            errors: try String(contentsOf: err, encoding: .utf8).split(separator: "\n").map(String.init))
    }
}
