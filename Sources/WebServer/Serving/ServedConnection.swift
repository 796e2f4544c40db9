internal import TLS

/// One connection of a loop: its bytes, its state, and who writes its stream. Used on the loop's thread.
final class ServedConnection {
    let token: UInt64
    let link: any PeerLink
    let presence = Presence()
    var state: ConnectionState
    var stream: StreamAccount?
    /// One beyond the limit: it gets a 503 and does not count.
    let isTurnedAway: Bool

    private(set) var isEstablished = false
    private var handshakeInterest = Epoll.Interest.read
    /// Bytes may be there to read.
    var mayRead = true
    /// TLS must write before it can read.
    var readWantsWrite = false
    /// What the epoll set waits for.
    var registered = Epoll.Interest.read
    /// Waits for the end of the loop's turn.
    var isTouched = false
    var countsAsParked = false

    init(token: UInt64, link: any PeerLink, state: ConnectionState, isTurnedAway: Bool) {
        self.token = token
        self.link = link
        self.state = state
        self.isTurnedAway = isTurnedAway
    }

    var interest: Epoll.Interest {
        guard isEstablished else { return handshakeInterest }
        var interest: Epoll.Interest = state.wantsInput ? .read : []
        if state.pendingBytes > 0 || readWantsWrite { interest.insert(.write) }
        return interest
    }

    /// One step of the handshake.
    func establish() {
        do {
            switch try link.establish() {
            case .finished: isEstablished = true
            case .wantsRead: handshakeInterest = .read
            case .wantsWrite: handshakeInterest = .write
            }
        } catch {
            state.lose()
        }
    }

    /// Reads once.
    /// - Returns: whether something came.
    func read(into scratch: inout [UInt8], at now: Int64) -> Bool {
        readWantsWrite = false
        do {
            var span = scratch.mutableSpan
            switch try link.read(into: &span) {
            case .bytes(let count):
                if count < scratch.count, link.isEmptyAfterShortRead { mayRead = false }
                state.receive(scratch.span.extracting(0..<count), at: now)
                return true
            case .wantsRead: mayRead = false
            case .wantsWrite:
                mayRead = false
                readWantsWrite = true
            case .closed:
                mayRead = false
                state.receiveEnd()
                return true
            }
        } catch {
            state.lose()
        }
        return false
    }

    /// Writes what it can of what waits.
    func flush() {
        do {
            while state.pendingBytes > 0 {
                let start = state.written
                guard case .bytes(let count) = try link.write(state.output.span.extracting(start...)) else { return }
                state.wrote(count)
            }
        } catch {
            state.lose()
        }
    }
}
