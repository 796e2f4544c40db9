internal import TLS

/// The bytes of one connection, plain or inside TLS. Used on its loop's thread; no call blocks. Closed with its last
/// reference.
protocol PeerLink: AnyObject {
    var descriptor: Int32 { get }
    /// A read that does not fill its buffer has emptied the connection. Not so in TLS, where a record may be held back.
    var isEmptyAfterShortRead: Bool { get }
    func establish() throws -> TLSConnection.Handshake
    func read(into buffer: inout MutableSpan<UInt8>) throws -> Transfer
    func write(_ bytes: Span<UInt8>) throws -> Transfer
    /// Sends our end; the peer's direction stays open.
    func finishWriting()
}

final class PlainLink: PeerLink {
    private let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }

    var descriptor: Int32 { socket.descriptor }
    var isEmptyAfterShortRead: Bool { true }
    func establish() -> TLSConnection.Handshake { .finished }
    func read(into buffer: inout MutableSpan<UInt8>) throws -> Transfer { try socket.read(into: &buffer) }
    func write(_ bytes: Span<UInt8>) throws -> Transfer { try socket.write(bytes) }
    func finishWriting() { socket.finishWriting() }
}

final class TLSLink: PeerLink {
    private let connection: TLSConnection

    init(_ connection: TLSConnection) { self.connection = connection }

    var descriptor: Int32 { connection.descriptor }
    var isEmptyAfterShortRead: Bool { false }
    func establish() throws -> TLSConnection.Handshake { try connection.handshake() }
    func read(into buffer: inout MutableSpan<UInt8>) throws -> Transfer { try connection.read(into: &buffer) }
    func write(_ bytes: Span<UInt8>) throws -> Transfer { try connection.write(bytes) }
    func finishWriting() { connection.shutdown() }
}
