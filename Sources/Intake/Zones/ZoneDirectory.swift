public import CardRules
import Synchronization

/// The zones that the system knows, each read once from its tzdata.
///
/// Any thread may ask. Only zones that exist are remembered, so names from outside cannot fill the memory.
public final class ZoneDirectory: Sendable {
    public static let systemPath = "/usr/share/zoneinfo"

    private let read: @Sendable (_ relativePath: String) -> [UInt8]?
    private let known = Mutex<[String: Zone]>([:])

    /// - Parameter path: where tzdata lies.
    public convenience init(path: String = ZoneDirectory.systemPath) {
        self.init { name in fileBytes("\(path)/\(name)", most: 1 << 20) }
    }

    /// - Parameter read: the bytes of a file below tzdata's directory; `nil` when there is none. May block.
    public init(read: @escaping @Sendable (_ relativePath: String) -> [UInt8]?) { self.read = read }

    /// The zone of an IANA name, old names included, or of `GMT[+-]h[:]mm`, which an iPhone reports for a fixed offset.
    ///
    /// - Returns: `nil` for anything else: names with other bytes than `A-Z a-z 0-9 _ + / -`, and files of the directory
    ///   that are no zone or count leap seconds.
    public func zone(named name: String) -> Zone? {
        if name == "UTC" || name == "GMT" { return Zone(name: name) }
        if let offset = ZoneDirectory.fixedOffset(name) { return Zone(name: name, fixedOffsetSeconds: offset) }
        guard ZoneDirectory.isZoneName(name) else { return nil }
        if let zone = known.withLock({ $0[name] }) { return zone }
        guard let file = read(name), let zone = try? TZifReader.zone(named: name, from: file.span) else { return nil }
        known.withLock { $0[name] = zone }
        return zone
    }

    /// Whether tzdata is there at all; without it only UTC and fixed offsets are known. To be said at start-up.
    public var hasZones: Bool { zone(named: "Europe/Berlin") != nil }

    static func isZoneName(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), !name.hasPrefix("/"), !name.hasSuffix("/"), !name.contains("//")
        else { return false }
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed else { return false }
        let refused = ["posix", "right", "posixrules", "localtime", "Factory"]
        return !refused.contains { name == $0 || name.hasPrefix("\($0)/") }
    }

    /// Seconds east of Greenwich for `GMT+5`, `GMT-3:30`, `GMT+0530`; at most 18 h. (`Etc/GMT+5`, which is west, is a file.)
    static func fixedOffset(_ name: String) -> Int32? {
        guard name.hasPrefix("GMT"), let sign = name.dropFirst(3).first, sign == "+" || sign == "-" else { return nil }
        let parts = name.dropFirst(4).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { return nil }
        let hours: Substring
        let minutes: Substring
        if parts.count == 2 {
            (hours, minutes) = (parts[0], parts[1])
            guard (1...2).contains(hours.count), minutes.count == 2 else { return nil }
        } else {
            guard (1...4).contains(parts[0].count) else { return nil }
            let minuteDigits = parts[0].count > 2 ? 2 : 0
            (hours, minutes) = (parts[0].dropLast(minuteDigits), parts[0].suffix(minuteDigits))
        }
        guard let hour = Int32(hours), let minute = minutes.isEmpty ? 0 : Int32(minutes), minute < 60 else {
            return nil
        }
        let seconds = hour * 3600 + minute * 60
        guard seconds <= 18 * 3600 else { return nil }
        return sign == "-" ? -seconds : seconds
    }
}
