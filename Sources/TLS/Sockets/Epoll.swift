internal import CShims
internal import Glibc

/// Owns one epoll set, level triggered. Closed when the value dies. Used by the one thread that waits on it.
/// Closing a descriptor takes it out of the set by itself.
public struct Epoll: ~Copyable {
    public struct Interest: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let read = Interest(rawValue: 1)
        public static let write = Interest(rawValue: 2)
    }

    public struct Event: Equatable, Sendable {
        /// The number given to `add`.
        public let token: UInt64
        /// Also true after a hang-up or an error, so that the next call on the descriptor finds out.
        public let isReadable: Bool
        public let isWritable: Bool
        /// The peer will send no more, or the connection is broken: behind what can still be read stands the end.
        public let isEnding: Bool
    }

    private let owned: Descriptor
    private let buffer: UnsafeMutableBufferPointer<epoll_event>  // ours: freed in deinit

    /// - Parameter eventsPerWait: the most that one `wait` returns; others come with the next.
    public init(eventsPerWait: Int = 256) throws(SocketError) {
        let raw = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard raw >= 0 else { throw SocketError(.poll, code: errno) }
        owned = Descriptor(raw)
        buffer = .allocate(capacity: max(1, eventsPerWait))
        buffer.initialize(repeating: epoll_event())
    }

    deinit { buffer.deallocate() }

    /// - Parameter token: comes back with each event of this descriptor.
    public borrowing func add(_ descriptor: Int32, _ interest: Interest, token: UInt64) throws(SocketError) {
        try control(EPOLL_CTL_ADD, descriptor, interest, token)
    }

    /// An empty interest still reports hang-ups.
    public borrowing func modify(_ descriptor: Int32, _ interest: Interest, token: UInt64) throws(SocketError) {
        try control(EPOLL_CTL_MOD, descriptor, interest, token)
    }

    public borrowing func remove(_ descriptor: Int32) throws(SocketError) {
        try control(EPOLL_CTL_DEL, descriptor, [], 0)
    }

    /// Blocks the calling thread until something happens: never on Swift's cooperative pool.
    /// - Parameters:
    ///   - timeoutMilliseconds: `nil` waits for ever, 0 only looks.
    ///   - events: replaced; empty after a timeout or a signal. Hand in the same array to spare the allocation.
    public borrowing func wait(timeoutMilliseconds: Int32?, into events: inout [Event]) throws(SocketError) {
        events.removeAll(keepingCapacity: true)
        let count = epoll_wait(
            owned.raw, buffer.baseAddress, Int32(buffer.count), timeoutMilliseconds.map { max(0, $0) } ?? -1)
        guard count >= 0 else {
            if errno == EINTR { return }
            throw SocketError(.poll, code: errno)
        }
        for index in 0..<Int(count) {
            let event = buffer[index]
            let isBroken = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            events.append(
                Event(
                    token: event.data.u64,
                    isReadable: isBroken || event.events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0,
                    isWritable: isBroken || event.events & EPOLLOUT.rawValue != 0,
                    isEnding: isBroken || event.events & EPOLLRDHUP.rawValue != 0))
        }
    }

    private borrowing func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Interest, _ token: UInt64
    ) throws(SocketError) {
        var event = epoll_event()
        if interest.contains(.read) { event.events |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
        if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
        event.data.u64 = token
        guard epoll_ctl(owned.raw, operation, descriptor, &event) == 0 else { throw SocketError(.poll, code: errno) }
    }
}
