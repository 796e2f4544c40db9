import Foundation
import Glibc
import Operations
import Testing

@testable import lanekeeper

/// The daemon under a service manager that speaks systemd's protocol.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct ManagedDaemonTests {
    @Test func `serve: a service manager hears READY, STATUS, WATCHDOG, RELOADING and STOPPING`() async throws {
        try await BuiltProgram.inFolder { folder in
            let manager = try #require(ManagerSocket(folder.appendingPathComponent("notify").path))
            let daemon = try await RunningDaemon(
                in: folder, configuration: "{ log: { format: 'text' } }",
                environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
            var told = try await manager.messages(until: "READY=1")
            for part in ["store", "push pool", "lanes", "calls", "web server"] {
                #expect(told.contains("STATUS=starting: \(part)"), "\(told)")
            }
            told = try await manager.messages(until: "STATUS=ready")
            // Again and again.
            told += try await manager.messages(until: "WATCHDOG=1")
            told += try await manager.messages(until: "WATCHDOG=1")

            daemon.send(SIGHUP)
            let reload = try await manager.messages(until: "READY=1").filter { $0 != "WATCHDOG=1" }
            #expect(reload.count == 2 && reload[0].hasPrefix("RELOADING=1\nMONOTONIC_USEC="), "\(reload)")

            daemon.send(SIGTERM)
            let stop = try await manager.messages(until: "STATUS=stopping: store").filter { $0 != "WATCHDOG=1" }
            #expect(stop.first == "STOPPING=1")
            #expect(
                stop.dropFirst() == [
                    "STATUS=stopping: web server", "STATUS=stopping: calls", "STATUS=stopping: lanes",
                    "STATUS=stopping: push pool", "STATUS=stopping: store",
                ])
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `serve: a NOTIFY_SOCKET where nobody listens does not keep it from working`() async throws {
        try await BuiltProgram.inFolder { folder in
            let daemon = try await RunningDaemon(
                in: folder, configuration: "{}",
                environment: ["NOTIFY_SOCKET": folder.appendingPathComponent("none").path, "WATCHDOG_USEC": "200000"])
            #expect(try await daemon.get("/healthz").hasSuffix(" 200"))
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }
}

/// A service manager's socket.
private final class ManagerSocket: Sendable {
    private let descriptor: Int32
    let path: String

    init?(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { return nil }
    }

    deinit { close(descriptor) }

    struct Silence: Error { let heard: [String] }

    /// All messages up to this one.
    func messages(until last: String) async throws -> [String] {
        try await onOwnThread("manager") { [descriptor] in
            var heard: [String] = []
            while heard.last != last {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count >= 0 else { throw Silence(heard: heard) }
                heard.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
            return heard
        }
    }
}
