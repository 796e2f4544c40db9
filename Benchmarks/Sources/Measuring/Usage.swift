internal import CAllocations
internal import Glibc

/// CPU and wall time so far, of the whole process.
public struct Usage: Sendable {
    public let userSeconds: Double
    public let systemSeconds: Double
    public let wallSeconds: Double

    public var cpuSeconds: Double { userSeconds + systemSeconds }

    public static var now: Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Usage(
            userSeconds: seconds(usage.ru_utime), systemSeconds: seconds(usage.ru_stime), wallSeconds: uptimeSeconds())
    }

    public init(userSeconds: Double, systemSeconds: Double, wallSeconds: Double) {
        (self.userSeconds, self.systemSeconds, self.wallSeconds) = (userSeconds, systemSeconds, wallSeconds)
    }

    public static func - (late: Usage, early: Usage) -> Usage {
        Usage(
            userSeconds: late.userSeconds - early.userSeconds,
            systemSeconds: late.systemSeconds - early.systemSeconds,
            wallSeconds: late.wallSeconds - early.wallSeconds)
    }

    /// What `body` took.
    public static func of(_ body: () throws -> Void) rethrows -> Usage {
        let before = now
        try body()
        return now - before
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
}

/// Of a clock that only goes forward.
public func uptimeSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Of the wall clock, since 1970.
public func unixSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Blocks the calling thread.
public func sleepSeconds(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

/// What the process holds.
public enum Memory {
    /// Counts every thread's memory in `inUseBytes`, at the price of one lock for all. Before the first thread is made.
    public static func useOneArena() { allocations_one_arena() }

    /// Asked of the C library and not given back.
    public static var inUseBytes: Int { Int(allocations_in_use()) }

    /// Pages in memory.
    public static var residentBytes: Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 256)
        guard fgets(&text, 256, file) != nil else { return 0 }
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    /// From here on `mostResidentBytes` counts anew (proc(5), clear_refs).
    public static func forgetMost() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    /// The most pages in memory at a time.
    public static var mostResidentBytes: Int { kilobytes(of: "VmHWM:", in: "/proc/self/status") }

    /// Of the machine, not in use.
    public static var availableBytes: Int { kilobytes(of: "MemAvailable:", in: "/proc/meminfo") }

    private static func kilobytes(of name: String, in path: String) -> Int {
        guard let file = fopen(path, "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            return (text.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
        }
        return 0
    }
}

/// What a stretch of work asks of the allocator.
public struct Allocations: Sendable {
    public let count: Int
    public let bytes: Int

    /// Counts those of every thread of the process from now on. One count at a time.
    public static func begin() { allocations_begin() }

    public static func end() -> Allocations {
        var count: UInt64 = 0
        var bytes: UInt64 = 0
        allocations_end(&count, &bytes)
        return Allocations(count: Int(count), bytes: Int(bytes))
    }

    private init(count: Int, bytes: Int) { (self.count, self.bytes) = (count, bytes) }
}
