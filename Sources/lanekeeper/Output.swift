import Foundation

/// One line of result, on standard output at once, also into a pipe.
func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

/// One line for people who wonder what went wrong, on standard error.
func complain(_ text: String) {
    FileHandle.standardError.write(Data("lanekeeper: \(text)\n".utf8))
}
