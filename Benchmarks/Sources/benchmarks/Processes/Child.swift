import Foundation
import Glibc
import Measuring

/// A program of its own that says where it listens and runs until it is ended.
final class Child {
    let pid: Int32
    private let process: Process
    private let output: Pipe
    private var unread: [UInt8] = []

    /// - Throws: `Failure` when it cannot be started.
    init(_ program: String, _ arguments: [String], in folder: String) throws {
        process = Process()
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        let log = "\(folder)/log-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: log) ?? FileHandle.nullDevice
        do { try process.run() } catch { throw Failure("\(program) cannot be started: \(error)") }
        pid = process.processIdentifier
        logFile = log
    }

    private let logFile: String

    /// The next line that it prints; blocks until it comes.
    /// - Throws: `Failure` with what it logged where it has ended.
    func line() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 0x0a) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeFirst(end + 1)
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw Failure("\(process.executableURL?.lastPathComponent ?? "it") ended: \(said)")
            }
            unread += more
        }
    }

    /// The end of its log.
    var said: String { String(((try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "").suffix(2000)) }

    var cpuSeconds: Double { ProcessTimes.cpuSeconds(ofTree: pid) }

    /// Asks it to end, and waits for that.
    func end() {
        guard process.isRunning else { return }
        kill(pid, SIGTERM)
        process.waitUntilExit()
    }

    /// Runs a program to its end.
    /// - Returns: what it printed.
    /// - Throws: `Failure` unless it ends well.
    static func run(_ program: String, _ arguments: [String], in folder: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch { throw Failure("\(program) cannot be started: \(error)") }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("\(program) failed: \(text.suffix(2000))") }
        return text
    }

    static func exists(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
