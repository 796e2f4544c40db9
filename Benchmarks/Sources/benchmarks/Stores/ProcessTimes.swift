import Foundation
import Glibc

/// What other processes have taken, as the kernel counts it.
enum ProcessTimes {
    /// User and system time of a process and all below it, those that have ended included where they were waited for.
    static func cpuSeconds(ofTree root: Int32) -> Double {
        var parents: [Int32: Int32] = [:]
        var ticks: [Int32: Int] = [:]
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in all.compactMap({ Int32($0) }) {
            guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let name = line.lastIndex(of: ")")
            else { continue }
            // After the name: state, parent, ...; the times are the 12th to the 15th.
            let fields = line[name...].split(separator: " ")
            guard fields.count > 15, let parent = Int32(fields[2]) else { continue }
            parents[process] = parent
            ticks[process] = fields[12...15].compactMap { Int($0) }.reduce(0, +)
        }
        var sum = 0
        for (process, count) in ticks {
            var ancestor: Int32? = process
            while let one = ancestor, one != root { ancestor = parents[one] }
            if ancestor == root { sum += count }
        }
        return Double(sum) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Pages of a process in memory.
    static func residentBytes(of process: Int32) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
