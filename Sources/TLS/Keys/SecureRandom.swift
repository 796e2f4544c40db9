internal import COpenSSL

/// Randomness that keys may be made of: OpenSSL's, seeded by the system.
public enum SecureRandom {
    /// - Throws: when the system has none to give.
    public static func bytes(_ count: Int) throws(KeyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        ERR_clear_error()
        guard RAND_bytes(&bytes, Int32(clamping: count)) == 1 else {
            throw .failed(operation: "draw random bytes", text: OpenSSLErrors().text)
        }
        return bytes
    }
}
