import Foundation
import Glibc

/// What one run of one client took, all of its process.
struct Measured: Codable {
    let userSeconds: Double
    let systemSeconds: Double
    let wallSeconds: Double
    /// As the kernel counts them: TLS included.
    let bytesWritten: Int

    var cpuSeconds: Double { userSeconds + systemSeconds }

    /// Runs a program to its end, its output to `output`.
    /// - Throws: `Failure` when it cannot be started or fails.
    static func run(_ program: String, _ arguments: [String], output: String) throws -> Measured {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        let began = ContinuousClock.now
        guard posix_spawnp(&process, program, &actions, nil, words, environ) == 0 else {
            throw Failure(description: "\(program) cannot be started")
        }
        // Still there when it has ended, so that its counters can be read.
        var info = siginfo_t()
        while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let wall = began.duration(to: .now) / .seconds(1)
        let counters = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
        let written = counters.split(separator: "\n").first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        guard status == 0 else {
            let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            throw Failure(description: "\(program) failed: \(said.suffix(2000))")
        }
        return Measured(
            userSeconds: seconds(usage.ru_utime), systemSeconds: seconds(usage.ru_stime), wallSeconds: wall,
            bytesWritten: written ?? 0)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
}
