/// Minutes after midnight, 0...1439, of a time of day as settings write it: `HH:MM`; `nil` for anything else.
public func minuteOfDay(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    var digits: [Int] = []
    for place in [0, 1, 3, 4] {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) else { return nil }
        digits.append(Int(bytes[place] - UInt8(ascii: "0")))
    }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
}
