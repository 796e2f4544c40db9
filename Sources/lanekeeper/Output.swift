import Foundation
import Synchronization

/// Standard output was closed by whoever read it (`| head`): nobody wants the rest.
let isOutputClosed = Atomic<Bool>(false)

/// One line of result, on standard output at once, also into a pipe.
func say(_ text: String) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    } catch {
        isOutputClosed.store(true, ordering: .relaxed)
    }
}

/// What went wrong, on standard error: one line, whatever stands in the text.
func complain(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("lanekeeper: \(oneLine(text))\n".utf8))
}

/// Whatever stands in it.
func oneLine(_ text: String) -> String { tamed(text.split(whereSeparator: \.isNewline).joined(separator: " ")) }

/// A file that the command was to write: it could not.
struct CannotWrite: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) cannot be written: is there such a folder, and may it be written to?" }
}

/// - Throws: `CannotWrite`.
func writeFile(_ bytes: Data, to path: String) throws(CannotWrite) {
    do { try bytes.write(to: URL(fileURLWithPath: path)) } catch { throw CannotWrite(path: path) }
}
