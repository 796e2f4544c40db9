import Foundation
import Glibc
import Measuring
import Synchronization

/// Many callers of one HTTP server, each on a connection and a thread of its own, which waits for each answer: as phones do,
/// so that those who wait together share a transaction.
struct CallCrowd: Sendable {
    let port: UInt16
    let key: String
    let callers: Int

    struct Call: Sendable {
        let method: String
        let path: String
        let type: String
        let body: String

        static func json(_ method: String, _ path: String, _ body: String) -> Call {
            Call(method: method, path: path, type: "application/json", body: body)
        }
    }

    /// Blocks until all are answered. One that is told to try again (503) tries again, as an app does.
    /// - Throws: `Failure` unless each is answered with 2xx in the end.
    func send(_ count: Int, _ call: @escaping @Sendable (Int) -> Call) throws {
        let trouble = Trouble()
        let shared = Next()
        let group = DispatchGroup()
        for _ in 0..<min(callers, count) {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    let connection = try Connection(port: port)
                    while trouble.first == nil {
                        let number = shared.take()
                        guard number < count else { break }
                        try connection.send(call(number), key: key)
                    }
                } catch {
                    trouble.note("\(error)")
                }
            }
        }
        group.wait()
        if let first = trouble.first { throw Failure(first) }
    }

    private final class Next: Sendable {
        private let number = Atomic<Int>(0)
        func take() -> Int { number.add(1, ordering: .relaxed).oldValue }
    }

    private final class Trouble: Sendable {
        private let text = Mutex<String?>(nil)
        var first: String? { text.withLock { $0 } }
        func note(_ words: String) { text.withLock { $0 = $0 ?? words } }
    }

    private final class Connection {
        private let socket: Int32
        private var unread: [UInt8] = []

        init(port: UInt16) throws {
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let answer = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, length) }
            }
            guard answer == 0 else {
                close(socket)
                throw Failure("no connection to 127.0.0.1:\(port)")
            }
        }

        deinit { close(socket) }

        func send(_ call: Call, key: String) throws {
            for _ in 0..<Connection.attempts {
                let head = try sendOnce(call, key: key)
                if head.hasPrefix("HTTP/1.1 2") { return }
                guard head.hasPrefix("HTTP/1.1 503") else {
                    throw Failure(
                        "\(call.method) \(call.path) was answered \(head.prefix(60)): \(call.body.prefix(300))")
                }
                sleepSeconds(0.1)
            }
            throw Failure("\(call.method) \(call.path) was answered 503 again and again")
        }

        private static let attempts = 300

        private func sendOnce(_ call: Call, key: String) throws -> String {
            let text =
                "\(call.method) \(call.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: \(call.type)\r\nContent-Length: \(call.body.utf8.count)\r\n\r\n\(call.body)"
            var bytes = Array(text.utf8)[...]
            while !bytes.isEmpty {
                let count = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, 0) }
                guard count > 0 else { throw Failure("the connection broke") }
                bytes = bytes.dropFirst(count)
            }
            let head = try readHead()
            var length = 0
            for line in head.lowercased().split(separator: "\r\n") where line.hasPrefix("content-length:") {
                length = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0
            }
            while unread.count < length { try readMore() }
            unread.removeFirst(length)
            return head
        }

        private func readHead() throws -> String {
            while true {
                if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                    let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                    unread.removeFirst(end.upperBound)
                    return head
                }
                try readMore()
            }
        }

        private func readMore() throws {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw Failure("the connection broke") }
            unread += buffer.prefix(count)
        }
    }
}
