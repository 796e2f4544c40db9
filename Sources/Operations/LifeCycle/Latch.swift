internal import Synchronization

/// Opens once; whoever waits goes on then, and whoever comes later does not wait.
public final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var next = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public var isOpen: Bool { state.withLock { $0.isOpen } }

    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0 }
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns when it is open, or when the task is cancelled.
    public func wait() async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGo = state.withLock { state in
                    // Cancelled before it began to wait: the handler has found nobody.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[number] = waiter
                    return false
                }
                if mayGo { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}
