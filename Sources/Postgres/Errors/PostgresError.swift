/// What a call of a connection came to. `nextStep` says what to do, `outcome` whether the server may have done it.
public enum PostgresError: Error, Hashable, Sendable {
    /// The text is no address that libpq takes. What it was is not told: it may hold a password.
    case badAddress
    /// No connection was made: refused, unknown host, starting up, wrong password. libpq 15 gives a text and no code.
    case unreachable(String)
    /// The connection is gone, or answered with an error that has no SQLSTATE.
    case lost(String)
    /// No byte came for so long while an answer was due.
    case silent(milliseconds: Int32)
    /// The owner has closed it.
    case closed
    /// More jobs wait than the connection keeps.
    case tooManyWaiting(Int)
    /// The server says no.
    case server(PostgresServerError)
    /// An answer that the caller's statement cannot have: a bug on our side, or a foreign server.
    case unexpected(String)
    /// A call of the system failed.
    case system(String)

    /// Whether the connection can go on.
    public var endsConnection: Bool {
        switch self {
        case .badAddress, .unreachable, .lost, .silent, .closed, .system: true
        case .tooManyWaiting, .unexpected: false
        case .server(let error): error.isFatal
        }
    }
}

/// An error report of the server, with its own words.
public struct PostgresServerError: Hashable, Sendable {
    /// Five characters: class and condition.
    public var sqlState: String
    /// The server ended the session with it.
    public var isFatal: Bool
    public var message: String
    public var detail: String?
    public var hint: String?
    public var table: String?
    public var column: String?
    public var constraint: String?

    public init(
        sqlState: String, isFatal: Bool = false, message: String, detail: String? = nil, hint: String? = nil,
        table: String? = nil, column: String? = nil, constraint: String? = nil
    ) {
        self.sqlState = sqlState
        self.isFatal = isFatal
        self.message = message
        self.detail = detail
        self.hint = hint
        self.table = table
        self.column = column
        self.constraint = constraint
    }
}

extension PostgresError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .badAddress:
            "the database's address is no URL and no key=value text that libpq takes (are special characters in it percent-encoded, its options spelt right?)"
        case .unreachable(let text): "no connection to the database: \(text)"
        case .lost(let text): "the connection to the database is lost: \(text)"
        case .silent(let milliseconds): "the database was silent for \(milliseconds) ms"
        case .closed: "the connection to the database was closed"
        case .tooManyWaiting(let count): "\(count) jobs wait for the database already"
        case .server(let error): "\(error)"
        case .unexpected(let text): "an unexpected answer of the database: \(text)"
        case .system(let text): text
        }
    }
}

extension PostgresServerError: CustomStringConvertible {
    /// `relation "game" does not exist (SQLSTATE 42P01)`, with detail and hint.
    public var description: String {
        var text = "\(message) (SQLSTATE \(sqlState))"
        if let detail { text += "; \(detail)" }
        if let hint { text += "; \(hint)" }
        return text
    }
}
