import Foundation
import Operations
import Synchronization
import Testing

@testable import lanekeeper

/// `lanekeeper serve` as a process of its own, on a free port of loopback, with its files in one folder.
final class RunningDaemon: Sendable {
    let address: String
    let pid: Int32
    private let log: Lines
    private let end: End

    /// Written by tests, read by the daemon.
    static let configurationName = "lanekeeper.json5"

    /// Starts it, and waits until it has printed its address.
    /// - Parameter shell: what a shell does first, which then becomes the daemon.
    /// - Throws: `NoAddress` where it ended before.
    /// - Parameter flags: further words of the command line.
    init(
        in folder: URL, configuration: String, environment: [String: String] = [:], shell: String? = nil,
        flags: [String] = []
    ) async throws {
        try Data(configuration.utf8).write(to: folder.appendingPathComponent(Self.configurationName))
        let (out, log, end) = (Lines(), Lines(), End())
        let process = Process()
        let words = ["serve", "--config", Self.configurationName, "--set", "http.address=127.0.0.1:0"] + flags
        process.executableURL = BuiltProgram.url
        process.arguments = words
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "\(shell); exec \"$0\" \"$@\"", BuiltProgram.url?.path ?? ""] + words
        }
        process.currentDirectoryURL = folder
        process.environment = BuiltProgram.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = out.pipe()
        process.standardError = log.pipe()
        process.terminationHandler = { process in
            end.tell(process.terminationStatus, process.terminationReason == .uncaughtSignal)
        }
        try process.run()
        pid = process.processIdentifier
        self.log = log
        self.end = end
        guard let address = await out.next() else {
            if !end.isOver { kill(pid, SIGKILL) }
            throw NoAddress(said: await log.rest())
        }
        self.address = address
    }

    /// A test that failed leaves no daemon behind; Foundation reaps it.
    deinit { if !end.isOver { kill(pid, SIGKILL) } }

    struct NoAddress: Error { let said: [String] }

    /// The next line of the log that contains this; those before it are dropped.
    func logged(_ words: String) async -> String? {
        while let line = await log.next() {
            if line.contains(words) { return line }
        }
        return nil
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// All that it logs until it ends.
    func restOfLog() async -> [String] { await log.rest() }

    func ended() async -> (code: Int32, wasKilled: Bool) { await end.outcome() }

    /// The body and the status of a GET, by curl; the status is 000 where nobody answered.
    func get(_ path: String, key: String? = nil) async throws -> String { try await curl([], path, key) }

    func put(_ path: String, _ json: String, key: String) async throws -> String {
        try await send("PUT", path, json, key: key)
    }

    func post(_ path: String, _ lines: String, key: String) async throws -> String {
        try await curl(
            ["-X", "POST", "-H", "Content-Type: application/x-ndjson", "--data-binary", lines], path, key)
    }

    /// Asks until the answer is as wanted, or the test's time is over.
    /// - Throws: `GaveUp`, which tells the last answer.
    func poll(_ path: String, key: String? = nil, until isDone: (String) -> Bool) async throws -> String {
        while true {
            let answer = try await get(path, key: key)
            if isDone(answer) { return answer }
            if Task.isCancelled { throw GaveUp(path, last: answer) }
        }
    }

    /// The test's time was over before what it waited for was there. Recorded as it is made: of a test whose time is over,
    /// an error that it throws is not told any more.
    struct GaveUp: Error {
        init(_ awaited: String, last: String) {
            Issue.record("waited for \(awaited) in vain; at last there was: \(last)")
        }
    }

    func send(
        _ method: String, _ path: String, _ body: String, type: String = "application/json", key: String
    ) async throws -> String {
        try await curl(["-X", method, "-H", "Content-Type: \(type)", "--data-binary", body], path, key)
    }

    func curl(_ options: [String], _ path: String, _ key: String? = nil) async throws -> String {
        let keyed = key.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        let arguments = ["-s", "-m", "30", "-w", " %{http_code}"] + keyed + options + ["\(address)\(path)"]
        return try await onOwnThread("curl") {
            let curl = Process()
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            curl.arguments = arguments
            let output = Pipe()
            curl.standardOutput = output
            try curl.run()
            let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
            curl.waitUntilExit()
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private final class End: Sendable {
        private let latch = Latch()
        private let held = Mutex<(code: Int32, wasKilled: Bool)>((0, false))

        func tell(_ code: Int32, _ wasKilled: Bool) {
            held.withLock { $0 = (code, wasKilled) }
            latch.open()
        }

        var isOver: Bool { latch.isOpen }

        func outcome() async -> (code: Int32, wasKilled: Bool) {
            await latch.wait()
            return held.withLock { $0 }
        }
    }
}

/// Lines that a child writes, as they come.
final class Lines: Sendable {
    private let unfinished = Mutex<[UInt8]>([])
    private let lines: AsyncStream<String>
    private let tell: AsyncStream<String>.Continuation

    init() { (lines, tell) = AsyncStream.makeStream() }

    /// For a child's output.
    func pipe() -> Pipe {
        let pipe = Pipe()
        // A thread of its own: a handler of Foundation's may meet its descriptor closed when children die in numbers.
        Thread.detachNewThread { [self] in
            while true {
                let bytes = pipe.fileHandleForReading.availableData
                guard !bytes.isEmpty else { return tell.finish() }
                for line in take([UInt8](bytes)) { tell.yield(line) }
            }
        }
        return pipe
    }

    private func take(_ bytes: [UInt8]) -> [String] {
        unfinished.withLock { rest in
            rest += bytes
            var lines: [String] = []
            while let end = rest.firstIndex(of: 0x0A) {
                lines.append(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
            return lines
        }
    }

    /// `nil` when the child has ended.
    func next() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// What is left until the child's end.
    func rest() async -> [String] {
        var all: [String] = []
        for await line in lines { all.append(line) }
        return all
    }
}
