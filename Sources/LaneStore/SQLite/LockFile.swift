internal import Glibc
internal import Lanes

/// Holds `flock` on a file beside the store, so that a second daemon on the same store is told at its start. The kernel
/// lets go when the process ends, however it ends.
final class LockFile {
    private let descriptor: Int32

    init(storePath: String) throws(StoreError) {
        let path = storePath + ".lock"
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
}
