import Foundation
import Glibc
import Synchronization

/// Where Debian keeps the server's programs.
enum Programs {
    static func folder() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        for version in versions.sorted(by: >) where access("\(root)/\(version)/bin/initdb", X_OK) == 0 {
            return "\(root)/\(version)/bin"
        }
        throw ClusterFault(what: "no PostgreSQL server in \(root)/*/bin: Config/setup installs it")
    }
}

/// Who runs the server: it refuses root.
struct Account: Sendable {
    /// `nil`: whoever runs the tests.
    let name: String?

    static func unprivileged() throws -> Account {
        guard geteuid() == 0 else { return Account(name: nil) }
        for name in ["postgres", "nobody"] where getpwnam(name) != nil { return Account(name: name) }
        throw ClusterFault(what: "the tests run as root, and there is no user postgres or nobody to run a server as")
    }

    func command(_ command: [String]) -> [String] {
        guard let name else { return command }
        return ["/usr/bin/setpriv", "--reuid=\(name)", "--regid=\(group(of: name))", "--clear-groups", "--"] + command
    }

    func own(_ path: String) throws {
        guard let name, let entry = getpwnam(name) else { return }
        guard chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw ClusterFault(what: "chown \(path): \(String(cString: strerror(errno)))")
        }
    }

    private func group(of name: String) -> UInt32 { getpwnam(name)?.pointee.pw_gid ?? 65_534 }
}

enum ProcessTable {
    static func children(of parent: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int32($0) }.filter { pid in
            // After the name, which stands in parentheses and may hold anything: state, parent.
            guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let name = line.lastIndex(of: ")")
            else { return false }
            let fields = line[name...].split(separator: " ")
            return fields.count > 2 && Int32(fields[2]) == parent
        }
    }
}

enum TemporaryFolder {
    static func make(for account: Account) throws -> String {
        var template = Array("/tmp/lanekeeper-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ClusterFault(what: "no temporary folder: \(String(cString: strerror(errno)))")
        }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try account.own(path)
        return path
    }
}

enum FreePort {
    /// The server cannot take port 0. Below the range from which the system gives ports to clients, or one of them may
    /// have it by the time the server wants it.
    static func find() throws -> Int {
        for _ in 0..<100 {
            let port = UInt16.random(in: 15_000...32_000)
            if isFree(port) { return Int(port) }
        }
        throw ClusterFault(what: "no free port on 127.0.0.1")
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        return LoopbackSocket.bind(socket, toPort: port)
    }
}

/// A child in a session of its own, with a pipe to it that breaks when this process ends, and one from it.
final class Keeper: Sendable {
    private let end = ChildEnd()
    /// `nil`: let go.
    private let lifeline: Mutex<Int32?>
    private let answer: Int32

    init(_ command: [String]) throws {
        var down: [Int32] = [0, 0]
        var up: [Int32] = [0, 0]
        guard pipe(&down) == 0, pipe(&up) == 0 else { throw ClusterFault(what: "no pipe") }
        // No other child may hold the lifeline.
        for descriptor in down + up { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, down[0], 0)
        posix_spawn_file_actions_adddup2(&actions, up[1], 1)
        posix_spawn_file_actions_adddup2(&actions, up[1], 2)
        // A server outlives many a child of this process: it must not hold the pipes by which their ends are told.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in open.compactMap({ Int32($0) }) where descriptor > 2 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, 0x80)  // POSIX_SPAWN_SETSID, behind _GNU_SOURCE
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        let arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let settings = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC"]
        let environment: [UnsafeMutablePointer<CChar>?] = settings.map { strdup($0) } + [nil]
        defer { for entry in environment { free(entry) } }
        var child = pid_t()
        let code = posix_spawn(&child, command[0], &actions, &attributes, arguments, environment)
        close(down[0])
        close(up[1])
        lifeline = Mutex(down[1])
        answer = up[0]
        guard code == 0 else {
            throw ClusterFault(what: "\(command[0]): \(String(cString: strerror(code)))")
        }
        end.await(child)
    }

    /// What it says first; the server that it started may hold the pipe on.
    func readAnswer(toEnd: Bool = false) -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        repeat {
            let count = read(answer, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += buffer.prefix(count)
        } while toEnd
        return String(decoding: text, as: UTF8.self)
    }

    func letGo() {
        lifeline.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }

    deinit {
        letGo()
        close(answer)
    }

    /// Blocks. What `waitpid` tells.
    func wait() -> Int32 { end.status }
}

/// Takes a child off the system's list as soon as it has ended, whether anybody asks or not: whoever waits for any child,
/// as exit tests do, is shown the same dead one for ever otherwise.
private final class ChildEnd: Sendable {
    private let result = Mutex<Int32>(0)
    private let ended = DispatchSemaphore(value: 0)

    func await(_ pid: pid_t) {
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            result.withLock { $0 = status }
            ended.signal()
        }
    }

    var status: Int32 {
        ended.wait()
        ended.signal()
        return result.withLock { $0 }
    }
}
