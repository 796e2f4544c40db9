import Foundation
import Glibc
import Synchronization

/// A line between a program and its server that can be cut where it hurts: on a thread of its own per connection, with the
/// bytes passed on as they come.
final class CutLine: Sendable {
    /// What happens to the next message of the program that comes after the cut is set.
    enum Cut: Sendable {
        /// It reaches the server, whose answer is swallowed; then the line breaks.
        case answer
        /// It reaches nobody; the line breaks.
        case message
        /// It reaches the server, and the line breaks on the program's side at once; the server's side stays.
        case behind
    }

    private let listener: Int32
    let port: Int
    private let target: UInt16
    private let state = Mutex(State())

    private struct State {
        var cut: Cut?
        var isRefusing = false
        var kept: [Int32] = []
        var cuts = 0
    }

    init(to port: Int) throws {
        target = UInt16(port)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = CutLine.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let accepting = listener
        let isBound = CutLine.withAddress(&address) { bind(accepting, $0, length) == 0 && listen(accepting, 64) == 0 }
        guard isBound else { throw CutFault(what: "bind: \(errno)") }
        _ = CutLine.withAddress(&address) { getsockname(accepting, $0, &length) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        try CutLine.thread { [self] in
            while true {
                let client = accept(accepting, nil, nil)
                guard client >= 0 else { return }
                serve(client)
            }
        }
    }

    /// The next message of any connection.
    func cutNext(_ cut: Cut) { state.withLock { $0.cut = cut } }

    /// How often it was cut.
    var cuts: Int { state.withLock { $0.cuts } }

    /// New connections break at once, or do not.
    func refuse(_ isRefusing: Bool) { state.withLock { $0.isRefusing = isRefusing } }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        for descriptor in state.withLock({ $0.kept }) { Glibc.close(descriptor) }
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = CutLine.loopback(target)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard !state.withLock({ $0.isRefusing }),
            CutLine.withAddress(&address, { connect(server, $0, length) == 0 })
        else {
            Glibc.close(client)
            Glibc.close(server)
            return
        }
        try? CutLine.thread { self.pump(client, server) }
    }

    /// Both ways on one thread, so that who spoke last is known.
    private func pump(_ client: Int32, _ server: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isSwallowing = false
        var keepsServer = false
        loop: while true {
            var wanted = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&wanted, 2, -1) > 0 else { continue }
            if wanted[0].revents != 0 {
                let count = read(client, &buffer, buffer.count)
                guard count > 0 else { break }
                let cut = state.withLock { state in
                    defer {
                        if state.cut != nil { state.cuts += 1 }
                        state.cut = nil
                    }
                    return state.cut
                }
                if cut == .message { break }
                guard CutLine.writeAll(server, buffer[..<count]) else { break }
                if cut == .behind {
                    keepsServer = true
                    break
                }
                if cut == .answer { isSwallowing = true }
            }
            if wanted[1].revents != 0 {
                let count = read(server, &buffer, buffer.count)
                guard count > 0 else { break }
                if isSwallowing { break loop }
                guard CutLine.writeAll(client, buffer[..<count]) else { break }
            }
        }
        Glibc.close(client)
        if keepsServer { state.withLock { $0.kept.append(server) } } else { Glibc.close(server) }
    }

    private static func writeAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withAddress<Value>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Value
    ) -> Value {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) throws {
        Foundation.Thread.detachNewThread(body)
    }
}

struct CutFault: Error { let what: String }
