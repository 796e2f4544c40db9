import Foundation
import Glibc
import Lanes
import TLS
import Testing

@testable import Operations

/// A service manager's socket, as systemd opens one.
private final class Manager: Sendable {
    private let descriptor: Int32
    let path: String

    init?(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends with the address's length.
        let length = MemoryLayout<sa_family_t>.size + name.count + (path.hasPrefix("@") ? 0 : 1)
        let code = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard code == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// The next message; what was sent is there already.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    var all: [String] {
        var messages: [String] = []
        while let message = next() { messages.append(message) }
        return messages
    }
}

@Suite struct ServiceNotifierTests {
    private static func path(_ kind: String) -> String {
        let name = "lanekeeper-notify-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        return kind == "abstract"
            ? "@\(name)" : FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    }

    @Test(arguments: ["file", "abstract"])
    func `sd_notify: each message is a datagram in systemd's words`(kind: String) throws {
        let manager = try #require(Manager(Self.path(kind)))
        defer { unlink(manager.path) }
        let notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.path], processID: 1)
        notifier.tell(.status("starting:\nstore"))
        notifier.tell(.ready)
        notifier.tell(.reloading(atMicroseconds: 12))
        notifier.tell(.watchdog)
        notifier.tell(.stopping)
        #expect(
            manager.all == [
                "STATUS=starting: store", "READY=1", "RELOADING=1\nMONOTONIC_USEC=12", "WATCHDOG=1", "STOPPING=1",
            ])
    }

    @Test func `sd_notify: without a socket, or with one that is gone, nothing is told and nothing breaks`() throws {
        try ServiceNotifier(environment: [:], processID: 1).tell(.ready)
        try ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"], processID: 1).tell(.ready)
        #expect(throws: SocketError.self) {
            try ServiceNotifier(environment: ["NOTIFY_SOCKET": "relative"], processID: 1)
        }
        #expect(throws: SocketError.self) {
            try ServiceNotifier(environment: ["NOTIFY_SOCKET": "/\(String(repeating: "x", count: 200))"], processID: 1)
        }
    }

    @Test func `sd_notify: what a full queue has no room for is told later, in order`() throws {
        let manager = try #require(Manager(Self.path("abstract")))
        let notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": manager.path], processID: 1)
        // The kernel takes a few datagrams for a socket that nobody reads (net.unix.max_dgram_qlen).
        for index in 0..<2000 { notifier.tell(.status("\(index)")) }
        notifier.tell(.ready)
        let first = manager.all
        #expect(first.count < 2000)
        var later: [String] = []
        for _ in 0..<20 {
            notifier.repeatUnsent()
            later += manager.all
        }
        #expect(later.first == "STATUS=\(first.count)", "\(first.count) \(later.prefix(3))")
        #expect(later.count == ServiceNotifier.unsentAtMost)
    }

    @Test(arguments: [
        (["WATCHDOG_USEC": "30000000"], 30.0), (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], 30),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil), ([:], nil), (["WATCHDOG_USEC": "x"], nil),
    ])
    func `sd_notify: the watchdog's interval is systemd's, if it is meant for this process`(
        variables: [String: String], seconds: Double?
    ) throws {
        let environment = variables.merging(["NOTIFY_SOCKET": "@nobody"]) { first, _ in first }
        #expect(try ServiceNotifier(environment: environment, processID: 7).watchdogSeconds == seconds)
    }

    @Test(arguments: [true, false])
    func `sd_notify: a whole life is told, and pings only while the system answers`(answers: Bool) async throws {
        let manager = try #require(Manager(Self.path("abstract")))
        let notifier = try ServiceNotifier(
            environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000"], processID: 1)
        let clock = TestClock()
        let log = try Log(level: .error, format: .json, isTerminal: false, clock: clock) { _ in }
        let (signals, tell) = AsyncStream.makeStream(of: LifeCycle.Signal.self)
        let life = LifeCycle(
            parts: [Part("store")], clock: clock, log: log, service: notifier,
            watchdog: { answers })
        async let end = life.run(signals: signals)
        // It sleeps when it has told what there is to tell.
        for await _ in clock.sleeps { break }
        tell.yield(.reload)
        tell.yield(.stop)
        #expect(await end == .stopped)
        await log.close()
        let messages = manager.all
        #expect(messages.first == "STATUS=starting: store" && messages.contains("READY=1"))
        #expect(messages.filter { $0 != "WATCHDOG=1" }.suffix(2) == ["STOPPING=1", "STATUS=stopping: store"])
        #expect(messages.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=5000000") })
        #expect(messages.contains("WATCHDOG=1") == answers)
    }
}
