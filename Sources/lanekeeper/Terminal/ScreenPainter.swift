/// Which words of the terminal's language the styles become (ECMA-48, SGR).
struct Palette: Hashable, Sendable {
    /// `false` where `NO_COLOR` is set (no-color.org): weight and reversal remain.
    let hasColour: Bool

    func code(of style: Style) -> String {
        switch style {
        case .plain: ""
        case .strong: "1"
        case .faint: hasColour ? "90" : "2"
        case .heading: hasColour ? "1;36" : "1"
        case .picked: "7"
        case .alert: hasColour ? "1;33" : "1"
        case .good: hasColour ? "32" : ""
        }
    }
}

/// Turns screens into what must be written so that the terminal shows them: only rows that differ from what stands there,
/// so that nothing flickers.
struct ScreenPainter {
    private let palette: Palette
    private var size: ScreenSize?
    private var shown: [Line] = []

    init(palette: Palette) { self.palette = palette }

    /// - Parameter lines: at most as many as the screen has rows; rows below are empty.
    mutating func paint(_ lines: [Line], on size: ScreenSize) -> String {
        var bytes = ""
        if size != self.size {
            // Whatever the terminal made of the old screen at its new size, nothing of it stays.
            bytes += "\u{1b}[0m\u{1b}[2J"
            shown = Array(repeating: Line(), count: size.rows)
            self.size = size
        }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row] : Line()
            guard line != shown[row] else { continue }
            shown[row] = line
            bytes += "\u{1b}[\(row + 1);1H"
            for span in line.spans {
                let code = palette.code(of: span.style)
                bytes += code.isEmpty ? span.text : "\u{1b}[\(code)m\(span.text)\u{1b}[0m"
            }
            if line.columns < size.columns { bytes += "\u{1b}[K" }
        }
        return bytes
    }
}

struct ScreenSize: Hashable, Sendable {
    let columns: Int
    let rows: Int
}
