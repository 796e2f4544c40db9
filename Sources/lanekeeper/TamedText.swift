/// Text from outside as a terminal may get it: control characters in it, whoever sent them, are shown as `?`.
func tamed(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isControl) else { return text }
    var tame = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { tame.append(scalar.isControl ? "?" : scalar) }
    return String(tame)
}

extension Unicode.Scalar {
    /// C0, delete, C1, and what turns the direction of writing.
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
