import Foundation
import Glibc
import PrivatePostgres
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
        let (accepting, port) = try LoopbackSocket.listen()
        listener = accepting
        self.port = port
        Thread.detachNewThread { [self] in
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
        guard !state.withLock({ $0.isRefusing }), let server = LoopbackSocket.connect(toPort: target) else {
            Glibc.close(client)
            return
        }
        Thread.detachNewThread { self.pump(client, server) }
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
                guard LoopbackSocket.write(buffer[..<count], to: server) else { break }
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
                guard LoopbackSocket.write(buffer[..<count], to: client) else { break }
            }
        }
        Glibc.close(client)
        if keepsServer { state.withLock { $0.kept.append(server) } } else { Glibc.close(server) }
    }
}
