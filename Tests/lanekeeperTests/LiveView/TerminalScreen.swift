import Foundation

/// What stands on a terminal of a size after the bytes of a program: as much of ECMA-48 as the live view uses. Anything
/// else is noted in `strange`.
struct TerminalScreen {
    private(set) var columns: Int
    private(set) var rows: Int
    private(set) var isAlternate = false
    private(set) var isCursorHidden = false
    private(set) var hasColour = false
    private(set) var strange: [String] = []
    /// The main screen is one text: what was printed on it.
    private(set) var printed = ""
    private var grid: [[Character]]
    private var (row, column) = (0, 0)
    private var pending: [UInt8] = []

    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// The rows, blanks at their ends cut off.
    var lines: [String] {
        grid.map { row in
            let end = row.lastIndex { $0 != " " }.map { $0 + 1 } ?? 0
            return String(row[..<end])
        }
    }

    var text: String { lines.joined(separator: "\n") }

    /// Its owner changed the window: what stood there stays where it fits.
    mutating func resize(columns: Int, rows: Int) {
        var resized = Array(repeating: Array(repeating: Character(" "), count: columns), count: rows)
        for row in 0..<min(rows, self.rows) {
            for column in 0..<min(columns, self.columns) { resized[row][column] = grid[row][column] }
        }
        (grid, self.columns, self.rows) = (resized, columns, rows)
        (row, column) = (min(row, rows - 1), min(column, columns - 1))
    }

    mutating func take(_ bytes: some Sequence<UInt8>) {
        pending += bytes
        while let length = step() { pending.removeFirst(length) }
    }

    /// - Returns: how many bytes it took; `nil` when the next character is not whole yet.
    private mutating func step() -> Int? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1b:
            guard pending.count > 1 else { return nil }
            guard pending[1] == UInt8(ascii: "[") else {
                strange.append("ESC \(pending[1])")
                return 2
            }
            guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else { return nil }
            control(String(decoding: pending[2..<end], as: UTF8.self), Character(Unicode.Scalar(pending[end])))
            return end + 1
        case 0x0a: put("\n")
        case 0x0d: column = 0
        default:
            let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
            guard pending.count >= length else { return nil }
            put(Character(String(decoding: pending[..<length], as: UTF8.self)))
            return length
        }
        return 1
    }

    private mutating func control(_ parameters: String, _ final: Character) {
        let numbers = parameters.split(separator: ";").map { Int($0) ?? 0 }
        switch (final, parameters) {
        case ("H", _): (row, column) = ((numbers.first ?? 1) - 1, (numbers.dropFirst().first ?? 1) - 1)
        case ("J", "2"): grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        case ("K", ""): for place in column..<max(column, columns) { grid[row][place] = " " }
        case ("m", _): hasColour = hasColour || numbers.contains { $0 >= 30 }
        case ("h", "?1049"): isAlternate = true
        case ("l", "?1049"): isAlternate = false
        case ("l", "?25"): isCursorHidden = true
        case ("h", "?25"): isCursorHidden = false
        default: strange.append("CSI \(parameters)\(final)")
        }
    }

    private mutating func put(_ character: Character) {
        guard isAlternate else {
            printed.append(character)
            return
        }
        if character == "\n" || row >= rows || column >= columns {
            strange.append("\(character) at \(row), \(column)")
            return
        }
        grid[row][column] = character
        column += 1
    }
}
