import Foundation
import Glibc
import PrivatePostgres
import Synchronization

/// A line between a program and its server whose bytes can be held, in one direction or both, for as long as a test wants
/// to look at what stands still. Two threads a connection; what is held when the program dies is lost, as on a wire.
final class HeldLine: Sendable {
    enum Direction: Int, Sendable { case toServer, toProgram }

    let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    private struct State {
        var target: UInt16
        var isHeld = [false, false]
        /// Answers are held once this has passed to the server.
        var marker: [UInt8]?
        var heldBytes = [0, 0]
        var isClosed = false
        var open: Set<Int32> = []
    }

    init(to target: Int) throws {
        state = Mutex(State(target: UInt16(target)))
        let (accepting, port) = try LoopbackSocket.listen()
        listener = accepting
        self.port = port
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(accepting, nil, nil)
                if client >= 0 {
                    serve(client)
                } else if errno != EINTR, errno != ECONNABORTED {
                    Glibc.close(accepting)
                    return
                }
            }
        }
    }

    /// From now on nothing passes; bytes already handed on are gone.
    func hold(_ direction: Direction) {
        state.withLock {
            $0.isHeld[direction.rawValue] = true
            $0.heldBytes[direction.rawValue] = 0
        }
    }

    /// Answers are held from the moment on at which the program has said this to the server.
    func holdAnswers(after words: String) { state.withLock { $0.marker = Array(words.utf8) } }

    func letGo(_ direction: Direction) { state.withLock { $0.isHeld[direction.rawValue] = false } }

    /// Bytes that stand still now.
    func heldBytes(_ direction: Direction) -> Int { state.withLock { $0.heldBytes[direction.rawValue] } }

    /// The server's name leads elsewhere from the next connection on.
    func lead(to port: Int) { state.withLock { $0.target = UInt16(port) } }

    func close() {
        state.withLock { state in
            state.isClosed = true
            // Whoever reads them closes them.
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ client: Int32) {
        guard let server = LoopbackSocket.connect(toPort: state.withLock { $0.target }) else {
            Glibc.close(client)
            return
        }
        let link = Link(client: client, server: server)
        state.withLock { $0.open.formUnion([client, server]) }
        Thread.detachNewThread { [self] in pump(link, client, server, .toServer) }
        Thread.detachNewThread { [self] in pump(link, server, client, .toProgram) }
    }

    private func pump(_ link: Link, _ from: Int32, _ to: Int32, _ direction: Direction) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(from, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if direction == .toServer, count > 0 { look(at: buffer[..<count]) }
            guard count > 0, passes(count, direction, link, to), LoopbackSocket.write(buffer[..<count], to: to) else {
                break
            }
        }
        shutdown(link.client, Int32(SHUT_RDWR))
        shutdown(link.server, Int32(SHUT_RDWR))
        guard link.isLast() else { return }
        state.withLock { $0.open.subtract([link.client, link.server]) }
        Glibc.close(link.client)
        Glibc.close(link.server)
    }

    private func look(at bytes: ArraySlice<UInt8>) {
        state.withLock { state in
            guard let marker = state.marker, bytes.firstRange(of: marker) != nil else { return }
            state.marker = nil
            state.isHeld[Direction.toProgram.rawValue] = true
        }
    }

    /// Waits while the direction is held.
    /// - Returns: false when there is nobody left to hand the bytes to, or who sent them has died meanwhile.
    private func passes(_ count: Int, _ direction: Direction, _ link: Link, _ to: Int32) -> Bool {
        var isCounted = false
        while true {
            let (isHeld, isClosed) = state.withLock { state in
                if state.isHeld[direction.rawValue], !isCounted { state.heldBytes[direction.rawValue] += count }
                return (state.isHeld[direction.rawValue], state.isClosed)
            }
            if isClosed { return false }
            if !isHeld { return true }
            isCounted = true
            // The program's death ends what is held.
            var end = pollfd(fd: link.client, events: Int16(0x2000), revents: 0)  // POLLRDHUP, behind _GNU_SOURCE
            if poll(&end, 1, 2) > 0, end.revents != 0 { return false }
        }
    }

    /// Two threads use one pair of descriptors; the last closes them.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32
        private let ends = Atomic<Int>(0)

        init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

        func isLast() -> Bool { ends.add(1, ordering: .acquiringAndReleasing).newValue == 2 }
    }
}
