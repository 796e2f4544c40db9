/// A time as it stands in a log line: what of it is there. Whose clock, and which day, `DeviceLogClock` finds out.
struct DeviceLogTime: Hashable, Sendable {
    /// Year (`nil`: not said), month, day.
    struct Day: Hashable, Sendable {
        var year: Int?
        var month: Int
        var day: Int
    }

    /// `nil`: not said, as in a copy from Console.app.
    var day: Day?
    var secondOfDay: Double
    /// East of Greenwich; `nil`: not said.
    var offsetSeconds: Int?

    /// The first time in a line, wherever it stands: `2026-07-18 20:15:04.512`, `20:15:04.512345+0100`,
    /// `Jul 18 20:15:04`, and these with what else each may carry.
    static func find(in line: ArraySlice<UInt8>) -> DeviceLogTime? {
        var place = line.startIndex
        while place < line.endIndex {
            let byte = line[place]
            let before = place > line.startIndex ? line[place - 1] : 0x20
            if isDigit(byte) && !isDigit(before) {
                var cursor = Cursor(line, place)
                if let found = cursor.dayAndTime() { return found }
                cursor = Cursor(line, place)
                if before != UInt8(ascii: ":"), before != UInt8(ascii: "."), let found = cursor.time(on: nil) {
                    return found
                }
            } else if isLetter(byte) && !isLetter(before) {
                var cursor = Cursor(line, place)
                if let found = cursor.monthAndTime() { return found }
            }
            place += 1
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5a ~= byte & 0xdf }

    private struct Cursor {
        let line: ArraySlice<UInt8>
        var place: Int

        init(_ line: ArraySlice<UInt8>, _ place: Int) {
            self.line = line
            self.place = place
        }

        var next: UInt8? { place < line.endIndex ? line[place] : nil }

        mutating func take(_ bytes: String) -> Bool {
            guard let next, bytes.utf8.contains(next) else { return false }
            place += 1
            return true
        }

        mutating func number(_ digits: ClosedRange<Int>, _ range: ClosedRange<Int>) -> Int? {
            var value = 0
            var count = 0
            while count < digits.upperBound, let byte = next, isDigit(byte) {
                value = value * 10 + Int(byte - 0x30)
                count += 1
                place += 1
            }
            if let byte = next, isDigit(byte) { return nil }
            return digits.contains(count) && range.contains(value) ? value : nil
        }

        mutating func blanks() -> Bool {
            let start = place
            while let byte = next, byte == 0x20 || byte == 0x09 { place += 1 }
            return place > start
        }

        mutating func dayAndTime() -> DeviceLogTime? {
            guard let year = number(4...4, 1970...2999), take("-/"), let month = number(2...2, 1...12), take("-/"),
                let day = number(2...2, 1...31)
            else { return nil }
            guard take("T") || blanks() else { return nil }
            return time(on: Day(year: year, month: month, day: day))
        }

        mutating func monthAndTime() -> DeviceLogTime? {
            guard line.endIndex - place > 3 else { return nil }
            let name = String(decoding: line[place..<(place + 3)], as: UTF8.self)
            let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            guard let month = names.firstIndex(of: name) else { return nil }
            place += 3
            guard blanks(), let day = number(1...2, 1...31), blanks() else { return nil }
            return time(on: Day(year: nil, month: month + 1, day: day))
        }

        mutating func time(on day: Day?) -> DeviceLogTime? {
            guard let hour = number(2...2, 0...23), take(":"), let minute = number(2...2, 0...59), take(":"),
                let second = number(2...2, 0...60)
            else { return nil }
            var fraction = 0.0
            if take(".,") {
                var weight = 0.1
                while let byte = next, isDigit(byte) {
                    fraction += Double(byte - 0x30) * weight
                    weight /= 10
                    place += 1
                }
            }
            var result = DeviceLogTime(day: day, secondOfDay: Double(hour * 3600 + minute * 60 + second) + fraction)
            result.offsetSeconds = offset()
            return result
        }

        /// `Z`, `+0100`, `+01:00`, `-05`.
        private mutating func offset() -> Int? {
            if take("Z") { return 0 }
            let isWest = next == UInt8(ascii: "-")
            guard take("+-"), place + 1 < line.endIndex, isDigit(line[place]), isDigit(line[place + 1]) else {
                return nil
            }
            let hours = Int(line[place] - 0x30) * 10 + Int(line[place + 1] - 0x30)
            place += 2
            _ = take(":")
            let minutes = number(2...2, 0...59) ?? 0
            return hours <= 14 ? (hours * 3600 + minutes * 60) * (isWest ? -1 : 1) : nil
        }
    }
}
