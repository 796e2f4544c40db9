internal import Glibc
internal import Synchronization

/// Thousands of connections in one process: tests with a crowd share its descriptors.
public enum Crowds {
    /// Each connection takes two descriptors here.
    public static var size: Int { min(5000, max(80, (raiseDescriptorLimit() - 2000) / 2)) }

    private struct Line {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let line = Mutex(Line())

    /// Runs while no other crowd is there.
    public static func alone(_ body: () async throws -> Void) async rethrows {
        await withCheckedContinuation { turn in
            let isFree = line.withLock { line in
                if line.isTaken { line.waiting.append(turn) }
                defer { line.isTaken = true }
                return !line.isTaken
            }
            if isFree { turn.resume() }
        }
        defer {
            let next = line.withLock { line -> CheckedContinuation<Void, Never>? in
                line.isTaken = !line.waiting.isEmpty
                return line.waiting.isEmpty ? nil : line.waiting.removeFirst()
            }
            next?.resume()
        }
        try await body()
    }
}

/// Lets this process open as many files as it may.
/// - Returns: how many.
@discardableResult
public func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
}
