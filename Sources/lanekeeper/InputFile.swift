import Foundation

/// A file named on the command line; `-` is standard input.
///
/// - Throws: `WrongUse` for one that is not there.
func readInput(_ path: String) throws(WrongUse) -> [UInt8] {
    guard path == "-" else { return try readBytes(of: path) }
    do {
        return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
    } catch {
        throw WrongUse("standard input cannot be read")
    }
}
