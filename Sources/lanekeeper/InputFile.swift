import Foundation
import Glibc

/// Why a file cannot be read, and what to do about it; the path stands before it.
enum UnreadableFile: Error, Equatable, Sendable, CustomStringConvertible {
    case isNotThere
    case isForbidden
    case isFolder
    /// In the system's words.
    case other(String)

    init(errno code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR: .isNotThere
            case EACCES, EPERM: .isForbidden
            case EISDIR: .isFolder
            default: .other(String(cString: strerror(code)))
            }
    }

    var description: String {
        switch self {
        case .isNotThere: "there is no such file; is the path right?"
        case .isForbidden: "there is no permission; let this user read it, and enter the folders above it"
        case .isFolder: "it is a folder; name a file"
        case .other(let words): words
        }
    }
}

/// Opens a file to be read.
func openedFile(_ path: String) throws(UnreadableFile) -> FileHandle {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw UnreadableFile(errno: errno) }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    var status = stat()
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw .isFolder }
    return handle
}

/// The bytes of a file.
func readFile(_ path: String) throws(UnreadableFile) -> [UInt8] {
    let handle = try openedFile(path)
    do {
        return [UInt8](try handle.readToEnd() ?? Data())
    } catch {
        throw .other("reading it failed: \(error.localizedDescription)")
    }
}

/// The bytes of a file that the command was given.
///
/// - Throws: `WrongUse` for one that cannot be read, with the reason.
func readBytes(of path: String) throws(WrongUse) -> [UInt8] {
    do throws(UnreadableFile) { return try readFile(path) } catch { throw WrongUse(unreadable: path, error) }
}

/// A file named on the command line; `-` is standard input.
///
/// - Throws: `WrongUse` for one that cannot be read, with the reason.
func readInput(_ path: String) throws(WrongUse) -> [UInt8] {
    guard path == "-" else { return try readBytes(of: path) }
    do {
        return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
    } catch {
        throw WrongUse("standard input cannot be read")
    }
}

extension WrongUse {
    init(unreadable path: String, _ reason: UnreadableFile) { self.init("\(path) cannot be read: \(reason)") }
}
