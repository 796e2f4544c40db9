/// What a session sets after connecting, and whom it tells.
public struct PostgresSettings: Sendable {
    /// The server ends a statement that takes longer (57014). 0: never.
    public var statementMilliseconds: Int32 = 5000
    /// The server ends a wait for a lock (55P03). 0: never.
    public var lockMilliseconds: Int32 = 2000
    /// The server ends a session that sits in an open transaction: a hung owner must not hold its rows for ever. 0: never.
    public var idleInTransactionMilliseconds: Int32 = 5000
    /// No byte for so long while an answer is due: the connection is given up. The only way to notice a server that is
    /// paused, and should exceed the statement's limit. `nil`: waits as long as TCP does.
    public var silenceMilliseconds: Int32? = 10_000
    /// Further settings, by name; set in the order of the names.
    public var parameters: [String: String] = [:]
    /// NOTICE and WARNING of the server, told on the session's thread. libpq would print them to standard error.
    public var notice: @Sendable (PostgresServerError) -> Void = { _ in }

    public init() {}

    /// As SQL. Numbers and quoted texts only.
    var sql: String {
        var all = parameters
        all["statement_timeout"] = "\(statementMilliseconds)"
        all["lock_timeout"] = "\(lockMilliseconds)"
        all["idle_in_transaction_session_timeout"] = "\(idleInTransactionMilliseconds)"
        return all.sorted { $0.key < $1.key }.map { name, value in
            "SET \(PostgresText.identifier(name)) = \(PostgresText.literal(value))"
        }.joined(separator: ";")
    }
}

/// Text that goes into SQL, for the statements that take no parameters (replication commands, `SET`, `LISTEN`).
public enum PostgresText {
    /// `"name"`, inner quotes doubled.
    public static func identifier(_ name: String) -> String { quoted(name, "\"") }

    /// `'value'`, with `E` where it holds a backslash, so that it means the same whatever `standard_conforming_strings`
    /// says.
    public static func literal(_ value: String) -> String {
        guard value.contains("\\") else { return quoted(value, "'") }
        let doubled = value.unicodeScalars.map { $0 == "\\" ? "\\\\" : String($0) }.joined()
        return " E" + quoted(doubled, "'")
    }

    private static func quoted(_ text: String, _ quote: Unicode.Scalar) -> String {
        var result = String(quote)
        for scalar in text.unicodeScalars where scalar != "\0" {
            if scalar == quote { result.unicodeScalars.append(quote) }
            result.unicodeScalars.append(scalar)
        }
        result.unicodeScalars.append(quote)
        return result
    }
}
