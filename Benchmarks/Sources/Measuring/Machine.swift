internal import Foundation
internal import Glibc

/// Where the figures were taken: without it they mean nothing.
public struct Machine: Codable, Sendable {
    public let processor: String
    public let cores: Int
    public let memoryGiB: Double
    public let system: String
    public let kernel: String
    public let swift: String
    /// How many processes wanted a core in the last minute: others' work stretches times.
    public let load: Double
    public let takenAt: String

    public init() {
        processor = Machine.line(of: "/proc/cpuinfo", after: "model name") ?? "unknown"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGiB = (Double(ProcessInfo.processInfo.physicalMemory) / Double(1 << 30) * 10).rounded() / 10
        system =
            Machine.line(of: "/etc/os-release", after: "PRETTY_NAME")?.replacingOccurrences(of: "\"", with: "")
            ?? "unknown"
        var names = utsname()
        uname(&names)
        kernel = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #if compiler(>=6.4)
            swift = "6.4 or later"
        #elseif compiler(>=6.3)
            swift = "6.3"
        #else
            swift = "before 6.3"
        #endif
        var loads = [0.0, 0.0, 0.0]
        getloadavg(&loads, 3)
        load = (loads[0] * 10).rounded() / 10
        takenAt = ISO8601DateFormatter().string(from: Foundation.Date(timeIntervalSince1970: unixSeconds()))
    }

    public var words: String {
        "\(processor), \(cores) cores, \(memoryGiB) GiB, \(system), kernel \(kernel), Swift \(swift), release build; "
            + "load \(load) when it began, \(takenAt)"
    }

    private static func line(of file: String, after key: String) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            let value = line.dropFirst(key.count).drop { $0 == " " || $0 == "\t" || $0 == ":" || $0 == "=" }
            return String(value)
        }
        return nil
    }
}
