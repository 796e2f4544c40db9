internal import COpenSSL

/// Text form of keys and certificates: parsing and printing through memory BIOs, each freed before the call returns.
enum PEM {
    /// - Returns: `nil` if memory ran out.
    static func withBIO<R>(reading text: String, _ body: (OpaquePointer) -> R) -> R? {
        var text = text
        return text.withUTF8 { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    static func text(_ write: (OpaquePointer) -> Int32) -> String? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return count > 0 ? String(decoding: bytes.prefix(Int(count)), as: UTF8.self) : nil
    }

    /// The caller frees with `EVP_PKEY_free`.
    static func privateKey(_ text: String) -> OpaquePointer? {
        ERR_clear_error()
        return withBIO(reading: text) { PEM_read_bio_PrivateKey($0, nil, noPassphrase, nil) } ?? nil
    }

    /// All certificates in order; the caller frees each with `X509_free`.
    static func certificates(_ text: String) -> [OpaquePointer] {
        ERR_clear_error()
        let found = withBIO(reading: text) { bio in
            var list: [OpaquePointer] = []
            while let next = PEM_read_bio_X509(bio, nil, noPassphrase, nil) { list.append(next) }
            return list
        }
        return found ?? []
    }

    /// A small text file, at most 1 MB.
    static func file(_ path: String) throws(TLSError) -> String {
        ERR_clear_error()
        guard let bio = BIO_new_file(path, "r") else { throw .unusable(subject: path, text: OpenSSLErrors().text) }
        defer { BIO_free(bio) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                BIO_read(bio, $0.baseAddress?.advanced(by: length), Int32($0.count - length))
            }
            guard count > 0 else { break }
            length += Int(count)
        }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}

/// Without a callback of our own OpenSSL would ask for a passphrase on the terminal. -1: there is none.
/// (A free function, for Swift makes C function pointers of nothing else that has a name.)
func noPassphrase(_: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?) -> Int32 { -1 }
