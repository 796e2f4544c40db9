import Foundation

/// One line of result, on standard output at once, also into a pipe.
func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

/// What went wrong, on standard error: one line, whatever stands in the text.
func complain(_ text: String) {
    let text = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    FileHandle.standardError.write(Data("lanekeeper: \(text)\n".utf8))
}
