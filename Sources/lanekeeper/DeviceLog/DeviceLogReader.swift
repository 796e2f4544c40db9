import Foundation

/// Reads an export of a phone's log, from Console.app, `log show` (compact, default or ndjson) or a syslog relay, in
/// pieces cut anywhere. UTF-8 or UTF-16 with a byte order mark; what is neither is read as far as it is ASCII. Line ends
/// of any system.
struct DeviceLogReader {
    /// Of a line: what is longer is looked at as far as this.
    static let lineBytes = 65_536
    /// Of one log; beyond, the newest are left out and counted.
    static let entries = 20_000

    private(set) var found: [DeviceLogEntry] = []
    /// Lines that say something beyond the limit.
    private(set) var leftOut = 0
    private var line: [UInt8] = []
    private var lineNumber = 1
    private var endedWithReturn = false
    private var encoding = Encoding.unknown
    private var head: [UInt8] = []
    private var halfUnit: UInt8?

    private enum Encoding { case unknown, bytes, utf16Little, utf16Big }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        guard encoding == .unknown else { return decode(bytes) }
        var iterator = bytes.makeIterator()
        while head.count < 3, let byte = iterator.next() { head.append(byte) }
        guard head.count == 3 else { return }
        begin()
        while let byte = iterator.next() { decode(CollectionOfOne(byte)) }
    }

    /// Nothing more comes.
    mutating func end() -> [DeviceLogEntry] {
        if encoding == .unknown { begin() }
        endLine()
        return found
    }

    private mutating func begin() {
        let first = head
        head = []
        if first.starts(with: [0xff, 0xfe]) {
            encoding = .utf16Little
            decode(first.dropFirst(2))
        } else if first.starts(with: [0xfe, 0xff]) {
            encoding = .utf16Big
            decode(first.dropFirst(2))
        } else {
            encoding = .bytes
            decode(first == [0xef, 0xbb, 0xbf] ? [] : first[...])
        }
    }

    private mutating func decode(_ bytes: some Sequence<UInt8>) {
        guard encoding != .bytes else {
            for byte in bytes { take(byte) }
            return
        }
        for byte in bytes {
            guard let half = halfUnit else {
                halfUnit = byte
                continue
            }
            halfUnit = nil
            let unit = encoding == .utf16Little ? UInt16(byte) << 8 | UInt16(half) : UInt16(half) << 8 | UInt16(byte)
            // Beyond ASCII a text is only shown: a stand-in does.
            take(unit < 0x80 ? UInt8(unit) : UInt8(ascii: "?"))
        }
    }

    private mutating func take(_ byte: UInt8) {
        let followsReturn = endedWithReturn
        endedWithReturn = byte == 0x0d
        switch byte {
        case 0x0a where followsReturn: break
        case 0x0a, 0x0d: endLine()
        default: if line.count < Self.lineBytes { line.append(byte) }
        }
    }

    private mutating func endLine() {
        defer {
            line.removeAll(keepingCapacity: true)
            lineNumber += 1
        }
        guard let (event, place) = DeviceLogMarkers.find(in: line) else { return }
        let entry = entry(event, place)
        if let last = found.last, last.event == entry.event, last.time == entry.time, last.text == entry.text {
            found[found.count - 1].times += 1
        } else if found.count < Self.entries {
            found.append(entry)
        } else {
            leftOut += 1
        }
    }

    private func entry(_ event: DeviceLogEvent, _ place: Int) -> DeviceLogEntry {
        let isJSON = line.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "{")
        let message = isJSON ? line[place...].prefix { $0 != UInt8(ascii: "\"") } : line[place...]
        var text = String(decoding: message.prefix(400), as: UTF8.self)
        while let last = text.unicodeScalars.last, last == " " || last == "\t" { text.unicodeScalars.removeLast() }
        // In ndjson the time may stand behind the message; elsewhere before it, and a time inside a message is no frame.
        let time = DeviceLogTime.find(in: isJSON ? line[...] : line[..<place])
        var bundle: String?
        var isCut = false
        if event == .budgetReduced || event == .budgetExceeded, let range = text.range(of: " for ") {
            let rest = text[range.upperBound...]
            let name = rest.prefix { $0 != " " && $0 != ";" && $0 != ":" }
            if !name.isEmpty && !name.hasPrefix("<") { bundle = String(name) }
            isCut = name.endIndex == text.endIndex
        }
        return DeviceLogEntry(
            line: lineNumber, time: time, event: event, text: text, bundle: bundle, budget: budget(event, text),
            isCut: isCut)
    }

    private func budget(_ event: DeviceLogEvent, _ text: String) -> Int? {
        guard event == .budgetReduced, let range = text.range(of: " to: ") else { return nil }
        return Int(text[range.upperBound...].prefix { $0 == "-" || $0.isNumber })
    }
}

/// All markers, by their first byte: a line is walked once.
enum DeviceLogMarkers {
    private static let byFirst: [[(bytes: [UInt8], event: DeviceLogEvent)]] = {
        var table = [[(bytes: [UInt8], event: DeviceLogEvent)]](repeating: [], count: 256)
        for event in DeviceLogEvent.allCases {
            for marker in event.markers {
                let bytes = Array(marker.utf8)
                if let first = bytes.first { table[Int(first)].append((bytes, event)) }
            }
        }
        return table
    }()

    /// The first marker in the line, and where it begins.
    static func find(in line: [UInt8]) -> (event: DeviceLogEvent, place: Int)? {
        for place in line.indices {
            let candidates = byFirst[Int(line[place])]
            if candidates.isEmpty { continue }
            for candidate in candidates where line[place...].starts(with: candidate.bytes) {
                return (candidate.event, place)
            }
        }
        return nil
    }
}
