import Foundation
import Glibc
import Synchronization

/// A PostgreSQL of the tests' own: in a temporary folder, on a free loopback port, under an unprivileged user, with logical
/// replication on. It ends with this process, however that ends: its keeper holds a pipe that breaks then.
///
/// A test that cannot start it fails.
public final class PrivateCluster: Sendable {
    /// Flushes are off: what dies in tests is a server or a program, never the machine.
    static let configuration = """
        listen_addresses = '127.0.0.1'
        wal_level = logical
        max_connections = 200
        max_wal_senders = 60
        max_replication_slots = 60
        shared_buffers = 32MB
        fsync = off
        full_page_writes = off
        synchronous_commit = on
        log_min_messages = warning
        timezone = 'America/New_York'
        datestyle = 'SQL, DMY'

        """

    public let port: Int
    public let folder: String
    private let user: Account
    private let keeper: Keeper
    private let counter = Mutex(0)

    /// The one that tests share; started when first asked for.
    public static func shared() async throws -> PrivateCluster { try await common.value }

    private static let common = Task { try await start() }

    /// One more, for tests that stop it. About two seconds.
    /// - Parameter settings: further lines of `postgresql.conf`.
    public static func start(settings: String = "") async throws -> PrivateCluster {
        try await offPool {
            for _ in 0..<3 {
                do { return try PrivateCluster(settings: settings) } catch let fault as ClusterFault {
                    // Somebody was faster at the port.
                    guard fault.what.contains("Address already in use") else { throw fault }
                }
            }
            return try PrivateCluster(settings: settings)
        }
    }

    /// A copy of this one that follows it, to be promoted. About three seconds.
    public func standby() async throws -> PrivateCluster {
        try await offPool { try PrivateCluster(settings: "", following: self.port) }
    }

    /// A standby becomes a server that may be written to.
    public func promote() async throws { try await offPool { try self.control(["promote"]) } }

    /// - Parameter primary: the port of the server to copy and to follow; `nil`: it begins empty.
    private init(settings: String, following primary: Int? = nil) throws {
        let programs = try Programs.folder()
        user = try Account.unprivileged()
        folder = try TemporaryFolder.make(for: user)
        let socketPort = try FreePort.find()
        port = socketPort
        let making =
            primary.map {
                "'\(programs)/pg_basebackup' -D \"$d/data\" -h 127.0.0.1 -p \($0) -U postgres -R -c fast --no-sync"
            }
            ?? "'\(programs)/initdb' -D \"$d/data\" -A trust -E UTF8 --no-locale -U postgres --no-sync --no-instructions"
        let script = """
            trap '' INT TERM HUP PIPE
            d='\(folder)'
            begin() {
              \(making) &&
              cat "$d/settings" >> "$d/data/postgresql.conf" &&
              '\(programs)/pg_ctl' -D "$d/data" -l "$d/log" -w -t 60 start
            }
            if begin > "$d/begin" 2>&1; then echo ready; else tail -n 20 "$d/begin" "$d/log"; fi
            cat > /dev/null
            '\(programs)/pg_ctl' -D "$d/data" -m immediate stop > /dev/null 2>&1
            rm -rf "$d"
            """
        let text =
            PrivateCluster.configuration + "port = \(port)\nunix_socket_directories = '\(folder)'\n" + settings
        try text.write(toFile: "\(folder)/settings", atomically: false, encoding: .utf8)
        try text.write(toFile: "\(folder)/log", atomically: false, encoding: .utf8)
        try user.own("\(folder)/log")
        try "".write(toFile: "\(folder)/log", atomically: false, encoding: .utf8)
        keeper = try Keeper(user.command(["/bin/sh", "-c", script]))
        var answer = keeper.readAnswer()
        guard answer.hasPrefix("ready") else {
            keeper.letGo()
            answer += keeper.readAnswer(toEnd: true)
            throw ClusterFault(what: "the private PostgreSQL did not start: \(answer)")
        }
    }

    /// A libpq URL.
    public func url(database: String = "postgres", user: String = "postgres") -> String {
        "postgres://\(user)@127.0.0.1:\(port)/\(database)"
    }

    /// A name that no other test of this process has: for databases, slots and roles.
    public func freshName(_ stem: String) -> String {
        counter.withLock { count in
            count += 1
            return "\(stem)_\(count)"
        }
    }

    /// Stops it: `fast` ends all sessions in order, `immediate` is a crash.
    public func stop(_ mode: String) async throws { try await offPool { try self.control(["stop", "-m", mode]) } }

    public func begin() async throws { try await offPool { try self.control(["start", "-l", "\(self.folder)/log"]) } }

    public func restart(_ mode: String) async throws {
        try await stop(mode)
        try await begin()
    }

    /// To every process of the server, from the first one on: SIGSTOP and SIGCONT.
    public func signalAll(_ signal: Int32) throws {
        let file = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        guard let first = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw ClusterFault(what: "no postmaster.pid")
        }
        // Those of a postmaster that stands still do not grow in number.
        kill(first, signal)
        for child in ProcessTable.children(of: first) { kill(child, signal) }
    }

    /// Everything that the server logged.
    public var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

    private func control(_ arguments: [String]) throws {
        let program = try Programs.folder() + "/pg_ctl"
        let command = user.command([program, "-D", "\(folder)/data", "-w", "-t", "30"] + arguments)
        let run = try Keeper(command)
        run.letGo()
        let text = run.readAnswer(toEnd: true)
        guard run.wait() == 0 else { throw ClusterFault(what: "pg_ctl \(arguments): \(text)") }
    }
}

public struct ClusterFault: Error, CustomStringConvertible {
    public let what: String
    public var description: String { what }

    public init(what: String) { self.what = what }
}

/// Waiting for children is not for the pool's few threads: other tests run there.
private func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        Thread.detachNewThread { done.resume(with: Result { try body() }) }
    }
}
