import Foundation

/// A log as it was read from a file, in pieces: it may be larger than memory.
struct DeviceLogFile: Sendable {
    let entries: [DeviceLogEntry]
    let leftOut: Int

    private static let pieceBytes = 1 << 20

    /// - Throws: `WrongUse` for a file that cannot be read.
    static func read(_ path: String) throws(WrongUse) -> DeviceLogFile {
        let handle: FileHandle
        do throws(UnreadableFile) { handle = path == "-" ? .standardInput : try openedFile(path) } catch {
            throw WrongUse(unreadable: path, error)
        }
        var reader = DeviceLogReader()
        do {
            while let piece = try handle.read(upToCount: pieceBytes), !piece.isEmpty { reader.read(piece) }
        } catch {
            throw WrongUse("\(path) cannot be read")
        }
        return DeviceLogFile(entries: reader.end(), leftOut: reader.leftOut)
    }

    /// For people, what the table does not show.
    func remark(others: Int, isLinedUp: Bool) -> String {
        guard !entries.isEmpty else {
            return "the device log holds no line of a Live Activity that is known here: was liveactivitiesd in it?"
        }
        var text = "\(entries.count) lines of the device log tell of Live Activities"
        if leftOut > 0 { text += ", \(leftOut) more were left out" }
        if others > 0 { text += "; \(others) of them, for this app, stand beside none of these starts" }
        if !isLinedUp { text += ": is it of the same time?" }
        return text
    }
}
