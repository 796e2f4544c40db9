/// A type of the server by its number (`pg_type.oid`); those of the built-in types never change.
public struct PostgresType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let bool = PostgresType(rawValue: 16)
    public static let bytea = PostgresType(rawValue: 17)
    public static let int8 = PostgresType(rawValue: 20)
    public static let int2 = PostgresType(rawValue: 21)
    public static let int4 = PostgresType(rawValue: 23)
    public static let text = PostgresType(rawValue: 25)

    public static let boolArray = PostgresType(rawValue: 1000)
    public static let byteaArray = PostgresType(rawValue: 1001)
    public static let int2Array = PostgresType(rawValue: 1005)
    public static let int4Array = PostgresType(rawValue: 1007)
    public static let textArray = PostgresType(rawValue: 1009)
    public static let int8Array = PostgresType(rawValue: 1016)
}

/// A statement that a session prepares once, when it first runs it.
public struct PostgresStatement: Hashable, Sendable {
    /// One name, one text: the session knows a prepared statement by it.
    public let name: String
    public let sql: String
    /// Of `$1`, `$2`, ...
    public let parameters: [PostgresType]

    public init(_ name: String, _ sql: String, _ parameters: [PostgresType] = []) {
        self.name = name
        self.sql = sql
        self.parameters = parameters
    }
}

/// A statement with what goes into it.
public struct PostgresCall: Sendable {
    public let statement: PostgresStatement
    public let parameters: PostgresParameters

    public init(_ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()) {
        self.statement = statement
        self.parameters = parameters
    }
}
