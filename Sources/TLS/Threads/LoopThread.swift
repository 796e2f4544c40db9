internal import CShims
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A thread of its own for a blocking loop (epoll, a C library): such loops never run on Swift's cooperative pool.
///
/// The body ends the thread by returning; tell it to through whatever it waits on (`EventSignal`). The owner then waits
/// with `join` or `finished`. A thread whose owner goes away runs on until its body returns.
public final class LoopThread: Sendable {
    private let end: End

    /// - Parameter name: what `top` and debuggers show; 15 bytes are kept.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(SocketError) {
        let end = End()
        self.end = end
        let box = Unmanaged.passRetained(Job(name: name, body: body, end: end))  // taken over by the new thread
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Job.run(argument).reach()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw SocketError(.startThread, code: code)
        }
    }

    /// Blocks until the body has returned: for threads and `main`, not for tasks. Any number of times, from any thread
    /// but this one.
    public func join() {
        let done = DispatchSemaphore(value: 0)
        if end.whenReached({ done.signal() }) { done.wait() }
    }

    /// The same for tasks: suspends until the body has returned. Does not listen to cancellation: who wants the end
    /// sooner tells the loop.
    public func finished() async {
        await withCheckedContinuation { continuation in
            if !end.whenReached({ continuation.resume() }) { continuation.resume() }
        }
    }

    private final class Job: Sendable {
        let name: String
        let body: @Sendable () -> Void
        let end: End
        init(name: String, body: @escaping @Sendable () -> Void, end: End) {
            (self.name, self.body, self.end) = (name, body, end)
        }

        /// Takes the job over, and lets go of it, with all that its body holds, before anybody hears of its end.
        static func run(_ argument: UnsafeMutableRawPointer) -> End {
            let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
            lk_name_this_thread(job.name)
            job.body()
            return job.end
        }
    }

    /// Reached once; those who wait are called on the ending thread.
    private final class End: Sendable {
        private let waiting = Mutex<[@Sendable () -> Void]?>([])

        func reach() {
            let callers = waiting.withLock { state in
                defer { state = nil }
                return state ?? []
            }
            for call in callers { call() }
        }

        /// - Returns: `false` if it was reached already; then `call` is not kept.
        func whenReached(_ call: @escaping @Sendable () -> Void) -> Bool {
            waiting.withLock { state in
                guard state != nil else { return false }
                state?.append(call)
                return true
            }
        }
    }
}
