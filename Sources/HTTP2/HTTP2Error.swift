internal import CNghttp2

/// An HTTP/2 session that cannot go on, or a call that it does not allow.
public enum HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// nghttp2 refused a call. `code` and `text` are its own.
    case library(operation: String, code: Int32, text: String)
    /// The peer broke the protocol: we answer with GOAWAY and this error code (RFC 9113, 7), and the session is over.
    case peerViolation(code: ErrorCode, text: String)
    /// No request may be opened now: the limit is reached, or not known yet, or the session is going away.
    case noStreamFree
    /// More header fields than a session takes (64), or a value beyond 64 KB.
    case headersTooLarge

    public var description: String {
        switch self {
        case .library(let operation, let code, let text): "\(operation): \(text) (\(code))"
        case .peerViolation(let code, let text): "the peer broke HTTP/2: \(code)\(text.isEmpty ? "" : ", \(text)")"
        case .noStreamFree: "no stream is free on this connection"
        case .headersTooLarge: "the header fields are too many or too large"
        }
    }

    static func check(_ code: Int32, _ operation: String) throws(HTTP2Error) {
        if code < 0 { throw .library(operation: operation, code: code, text: String(cString: nghttp2_strerror(code))) }
    }
}

/// An error code of HTTP/2 (RFC 9113, 7); unknown numbers are kept.
public struct ErrorCode: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let noError = ErrorCode(rawValue: 0)
    public static let protocolError = ErrorCode(rawValue: 1)
    public static let internalError = ErrorCode(rawValue: 2)
    public static let refusedStream = ErrorCode(rawValue: 7)
    public static let cancel = ErrorCode(rawValue: 8)
    public static let enhanceYourCalm = ErrorCode(rawValue: 11)

    /// The name in the RFC, such as `REFUSED_STREAM`.
    public var description: String { String(cString: nghttp2_http2_strerror(rawValue)) }
}
