import CardRules
import Intake

/// A recorded slate: the usable lines of an NDJSON file, and what is wrong with the others.
struct SlateFile: Sendable {
    let lines: [SlateLine]
    /// Lines of the file that could not be used.
    let rejected: Int
    /// One line a fault, for people: `file:line: what is wrong`. Of very many the first only.
    let faults: [String]

    /// - Throws: `WrongUse` for a file that cannot be read or has no usable line.
    init(path: String) throws(WrongUse) {
        var bytes = try readBytes(of: path)
        // A byte order mark, which some editors leave, is no part of the first line.
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        let text: SlateText
        do {
            text = try SlateText(bytes.span)
        } catch {
            throw WrongUse("\(path): \(error)")
        }
        var faults = text.rejected.map { "\(path):\($0.number): \($0.fault)" }
        if text.rejectedCount > text.rejected.count {
            faults.append("\(path): \(text.rejectedCount) lines in all cannot be used, of which these are the first")
        }
        self.faults = faults
        lines = text.lines.map(\.line)
        rejected = text.rejectedCount
    }
}
