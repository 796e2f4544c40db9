/// Reads `MM:SS`, also with tenths, and the bare `SS.s` that some feeds show in the last minute.
///
/// - Returns: seconds; `nil` for anything else, which then counts as no clock at all.
public func clockSeconds(_ text: String) -> Double? {
    var minutes: Double?
    var whole = 0.0
    var digits = 0
    var fraction = 0.0
    var place = 0.0
    var fractionDigits = 0
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            let digit = Double(byte - UInt8(ascii: "0"))
            if place > 0 {
                fraction += digit * place
                place /= 10
                fractionDigits += 1
            } else {
                whole = whole * 10 + digit
                digits += 1
            }
            guard digits <= 3, fractionDigits <= 3 else { return nil }
        case UInt8(ascii: ":"):
            guard minutes == nil, digits > 0, place == 0 else { return nil }
            minutes = whole
            whole = 0
            digits = 0
        case UInt8(ascii: "."):
            guard place == 0, digits > 0 else { return nil }
            place = 0.1
        default: return nil
        }
    }
    let hasFraction = place > 0
    guard !hasFraction || fractionDigits > 0 else { return nil }
    if let minutes {
        guard digits == 2, whole < 60 else { return nil }
        return minutes * 60 + whole + fraction
    }
    guard hasFraction, digits > 0, whole < 60 else { return nil }
    return whole + fraction
}
