/// How a piece of text stands out. Told apart without colour too (`Palette`).
enum Style: Hashable, Sendable {
    case plain, strong, faint, heading, picked, alert, good
}

/// A piece of text in one style, of characters that move the cursor to the right and nothing else.
struct Span: Hashable, Sendable {
    let text: String
    let style: Style

    init(_ text: String, _ style: Style = .plain) {
        self.text = tamed(text)
        self.style = style
    }
}

/// One row of the screen.
struct Line: Hashable, Sendable {
    private(set) var spans: [Span]

    init(_ spans: Span...) { self.spans = spans }

    init(_ text: String, _ style: Style = .plain) { spans = [Span(text, style)] }

    var columns: Int { spans.reduce(0) { $0 + $1.text.columns } }
    var text: String { spans.reduce("") { $0 + $1.text } }

    static func + (left: Line, right: Line) -> Line {
        var sum = left
        sum.spans += right.spans
        return sum
    }

    /// Exactly so wide: cut off, or filled with blanks in the style of its end where `fills` says so.
    func fitted(to columns: Int, fills: Bool = false) -> Line {
        var left = max(0, columns)
        var fitted = Line()
        for span in spans where left > 0 {
            let text = span.text.clipped(to: left)
            left -= text.columns
            fitted.spans.append(Span(text, span.style))
            if text.utf8.count < span.text.utf8.count { break }  // cut: what follows stands behind it
        }
        if left > 0 {
            let style = fills ? fitted.spans.last?.style ?? .plain : .plain
            fitted.spans.append(Span(String(repeating: " ", count: left), style))
        }
        return fitted
    }
}

extension String {
    /// How many columns a terminal gives it.
    var columns: Int { unicodeScalars.allSatisfy(\.isASCII) ? utf8.count : reduce(0) { $0 + $1.columns } }

    /// At most so wide; a wide character that would not fit goes.
    func clipped(to columns: Int) -> String {
        if self.columns <= columns { return self }
        var (clipped, used) = ("", 0)
        for character in self {
            used += character.columns
            guard used <= columns else { break }
            clipped.append(character)
        }
        return clipped
    }

    /// At most so wide; what was cut off leaves a mark.
    func shortened(to columns: Int, mark: String) -> String {
        if self.columns <= columns { return self }
        return columns <= mark.columns ? clipped(to: columns) : clipped(to: columns - mark.columns) + mark
    }

    /// At least so wide, by blanks behind it, or before it where it is to stand at the right.
    func padded(to columns: Int, right: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, columns - self.columns))
        return right ? blanks + self : self + blanks
    }
}

extension Character {
    /// 0 for what is drawn over its neighbour, 2 for East Asian wide characters and pictures, else 1 (Unicode TR 11).
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return 2 }
        switch scalar.value {
        case 0x300..<0x370, 0x200b...0x200d, 0xfe00...0xfe0f, 0xfeff: return 0
        case 0x1100..<0x1160, 0x2e80..<0x303f, 0x3041..<0xa4d0, 0xac00..<0xd7a4, 0xf900..<0xfb00, 0xfe30..<0xfe70,
            0xff00..<0xff61, 0xffe0..<0xffe7, 0x1f300..<0x1f650, 0x1f680..<0x1f700, 0x1f900..<0x1fa00,
            0x20000..<0x3fffe:
            return 2
        default: return 1
        }
    }
}
