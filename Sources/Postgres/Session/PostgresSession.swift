internal import CPostgres
internal import Glibc
internal import TLS

/// Owns one libpq connection; closed when the value dies. Used by one thread at a time, which it blocks: a thread of its
/// own (`PostgresConnection`, or a `LoopThread` of the caller), never Swift's cooperative pool.
///
/// After an error that `endsConnection` only dying is left: make a new session, and let its `PostgresBackoff` time it.
public struct PostgresSession: ~Copyable {
    let raw: OpaquePointer  // ours: finished in deinit
    private let canceller: OpaquePointer?  // ours: freed in deinit
    private let epoll: Epoll
    private let interrupt: PostgresInterrupt
    private let notices: NoticeBox  // libpq holds its address; lives until after PQfinish
    private let silenceMilliseconds: Int32?
    private var interest: Epoll.Interest = .read
    private var events: [Epoll.Event] = []
    var preparedStatements: Set<String> = []
    /// Why nothing can be done any more.
    var fault: PostgresError?
    var copy = CopyDirection.none

    enum CopyDirection { case none, out, both }

    /// The server's process.
    public let backendPID: Int32
    /// `150020` for 15.20.
    public let serverVersion: Int32

    /// Connects, which may take `connect_timeout` for each host of the address, and sets what `settings` say.
    /// - Parameter address: as it is; `recommended` is not added by itself.
    public static func connect(
        to address: PostgresAddress, settings: PostgresSettings = PostgresSettings(), interrupt: PostgresInterrupt
    ) throws(PostgresError) -> PostgresSession {
        if interrupt.isClosed { throw .closed }
        var session = try PostgresSession(open(address), settings, interrupt)
        _ = try session.query(settings.sql)
        return session
    }

    private init(_ opened: consuming Opened, _ settings: PostgresSettings, _ interrupt: PostgresInterrupt)
        throws(PostgresError)
    {
        raw = opened.raw
        canceller = PQgetCancel(raw)
        notices = NoticeBox(settings.notice)
        self.interrupt = interrupt
        silenceMilliseconds = settings.silenceMilliseconds
        backendPID = PQbackendPID(raw)
        serverVersion = PQserverVersion(raw)
        epoll = opened.epoll
        PQsetNoticeReceiver(
            raw,
            { box, result in
                guard let box, let result, let report = ErrorReport(result) else { return }
                Unmanaged<NoticeBox>.fromOpaque(box).takeUnretainedValue().notice(report.error)
            }, Unmanaged.passUnretained(notices).toOpaque())
        do throws(SocketError) {
            try epoll.add(PQsocket(raw), .read, token: Token.socket)
            try epoll.add(interrupt.signal.descriptor, .read, token: Token.interrupt)
        } catch {
            throw .system("\(error)")
        }
    }

    deinit {
        PQfreeCancel(canceller)
        PQfinish(raw)
    }

    private enum Token {
        static let socket: UInt64 = 0
        static let interrupt: UInt64 = 1
    }

    private struct Opened: ~Copyable {
        let raw: OpaquePointer
        let epoll: Epoll
    }

    private static func open(_ address: PostgresAddress) throws(PostgresError) -> Opened {
        let epoll: Epoll
        do throws(SocketError) { epoll = try Epoll(eventsPerWait: 2) } catch { throw .system("\(error)") }
        // Text goes both ways in UTF-8, whatever the database is in.
        let options = address.setting("client_encoding", "UTF8").options
        let texts = options.map { (strdup($0.keyword), strdup($0.value)) }
        defer {
            for (keyword, value) in texts {
                free(keyword)
                free(value)
            }
        }
        let keywords = texts.map { UnsafePointer($0.0) } + [nil]
        let values = texts.map { UnsafePointer($0.1) } + [nil]
        guard let raw = PQconnectdbParams(keywords, values, 0) else { throw .unreachable("out of memory") }
        guard PQstatus(raw) == CONNECTION_OK else {
            let text = message(of: raw)
            PQfinish(raw)
            throw .unreachable(text)
        }
        PQsetnonblocking(raw, 1)
        return Opened(raw: raw, epoll: epoll)
    }

    // MARK: - Waiting

    struct Wake {
        var isReadable = false
        var isWritable = false
        var wasNudged = false
        /// The time is over, and nothing came.
        var isOverdue: Bool { !isReadable && !isWritable && !wasNudged }
    }

    /// Blocks until the socket is ready, somebody interrupts, or the time is over.
    /// - Parameter mayEnd: the wait may end empty-handed, so that a nudge ends it.
    mutating func wait(
        for wanted: Epoll.Interest, timeoutMilliseconds: Int32?, mayEnd: Bool = false
    ) throws(PostgresError) -> Wake {
        if mayEnd, try takeWishes(withNudge: true) { return Wake(wasNudged: true) }
        do throws(SocketError) {
            if interest != wanted {
                try epoll.modify(PQsocket(raw), wanted, token: Token.socket)
                interest = wanted
            }
            try epoll.wait(timeoutMilliseconds: timeoutMilliseconds, into: &events)
        } catch {
            throw fail(.system("\(error)"))
        }
        var wake = Wake()
        for event in events {
            if event.token == Token.socket {
                wake.isReadable = event.isReadable
                wake.isWritable = event.isWritable
            } else {
                let wasNudged = try takeWishes(withNudge: mayEnd)
                // Any interruption is no silence.
                wake.wasNudged = wasNudged || !mayEnd
            }
        }
        return wake
    }

    /// - Returns: whether a nudge was taken.
    private mutating func takeWishes(withNudge: Bool) throws(PostgresError) -> Bool {
        let wishes = interrupt.take(withNudge: withNudge)
        if wishes.close { throw fail(.closed) }
        // The wait goes on: the answer comes from the server.
        if wishes.cancel { cancelNow() }
        return withNudge && wishes.nudge
    }

    /// Until an answer's next byte is here. A nudge does not end it.
    mutating func waitForAnswer() throws(PostgresError) {
        while true {
            let wake = try wait(for: .read, timeoutMilliseconds: silenceMilliseconds)
            if wake.isReadable {
                try consume()
                return
            }
            if wake.isOverdue, let silenceMilliseconds { throw fail(.silent(milliseconds: silenceMilliseconds)) }
        }
    }

    /// Sends all that libpq holds, and takes in what comes meanwhile: else both sides can block with full buffers.
    mutating func flush() throws(PostgresError) {
        while true {
            switch PQflush(raw) {
            case 0: return
            case 1:
                let wake = try wait(for: [.read, .write], timeoutMilliseconds: silenceMilliseconds)
                if wake.isReadable { try consume() }
                if wake.isOverdue, let silenceMilliseconds { throw fail(.silent(milliseconds: silenceMilliseconds)) }
            default: throw lost()
            }
        }
    }

    /// Takes in what the socket has. The server's last words may stand before the end of the stream: they are looked at
    /// first.
    mutating func consume() throws(PostgresError) {
        guard PQconsumeInput(raw) == 0 else { return }
        let text = PostgresSession.message(of: raw)
        if let last = PQgetResult(raw) {
            defer { PQclear(last) }
            if let report = ErrorReport(last), !report.error.sqlState.isEmpty {
                throw fail(.server(report.error.madeFatal))
            }
        }
        throw fail(.lost(text))
    }

    private func cancelNow() {
        guard let canceller else { return }
        // One short connection of its own; that it failed shows in that nothing is cancelled.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            _ = PQcancel(canceller, text.baseAddress, Int32(text.count))
        }
    }

    // MARK: - Faults

    /// Checked before each use.
    mutating func begin() throws(PostgresError) {
        if let fault { throw fault }
        if interrupt.isClosed { throw fail(.closed) }
        guard copy == .none else { throw .unexpected("a statement while a copy is under way") }
        interrupt.forgetCancel()
    }

    mutating func fail(_ error: PostgresError) -> PostgresError {
        if error.endsConnection, fault == nil { fault = error }
        return error
    }

    mutating func lost() -> PostgresError { fail(.lost(PostgresSession.message(of: raw))) }

    /// An error result. One without SQLSTATE is libpq's own: `PQstatus` may still say that all is well.
    mutating func fault(of result: OpaquePointer) -> PostgresError {
        guard let report = ErrorReport(result), !report.error.sqlState.isEmpty else { return lost() }
        return fail(.server(report.error))
    }

    static func message(of raw: OpaquePointer) -> String {
        ErrorReport.trimmed(PQerrorMessage(raw).map { String(cString: $0) } ?? "")
    }
}

/// What libpq calls with a notice: copies it and hands it on.
private final class NoticeBox: Sendable {
    let notice: @Sendable (PostgresServerError) -> Void
    init(_ notice: @escaping @Sendable (PostgresServerError) -> Void) { self.notice = notice }
}

extension PostgresServerError {
    /// The stream ended behind it.
    fileprivate var madeFatal: PostgresServerError {
        var copy = self
        copy.isFatal = true
        return copy
    }
}
