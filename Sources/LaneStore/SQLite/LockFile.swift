internal import Glibc
internal import Lanes

/// Holds `flock` on a file beside the store, so that a second daemon on the same store is told at its start. The kernel
/// lets go when the process ends, however it ends.
final class LockFile {
    private let descriptor: Int32

    init(storePath: String) throws(StoreError) {
        let path = LockFile.resolved(storePath) + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unavailable(detail: "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(path: storePath)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The file itself, whatever links lead to it: two names of a store must not have two locks.
    private static func resolved(_ path: String) -> String {
        if let found = real(path) { return found }
        // Not there yet: its folder is.
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let folder = path.contains("/") ? String(path.dropLast(name.count)) : "."
        return real(folder.isEmpty ? "." : folder).map { "\($0)/\(name)" } ?? path
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
