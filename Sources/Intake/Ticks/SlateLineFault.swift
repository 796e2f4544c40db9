/// Why a line of the slate format was not usable.
public struct SlateLineFault: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// No JSON.
        case syntax(JSONFault.Reason)
        /// JSON, but no object.
        case notAnObject
        case missing
        /// The value is not what the key holds; `expected` says what it would be.
        case wrongValue(expected: String)
    }

    public var reason: Reason
    /// From 1, in characters: where the value, or what is wrong with the text, begins. 1 for a key that is missing.
    public var column: Int
    /// A JSON pointer (RFC 6901), `nil` when no field is to blame.
    public var field: String?

    public init(_ reason: Reason, column: Int, field: String? = nil) {
        self.reason = reason
        self.column = column
        self.field = field
    }
}

extension SlateLineFault: CustomStringConvertible {
    /// One line for people: the key, what is wrong, the column. `t: must be a number of Unix seconds (column 6)`
    public var description: String {
        let subject = field.map { "\($0.drop { $0 == "/" }): " } ?? ""
        let what =
            switch reason {
            case .syntax(let reason): "\(reason)"
            case .notAnObject: "a line is one JSON object"
            case .missing: "is missing"
            case .wrongValue(let expected): "must be \(expected)"
            }
        return reason == .missing ? "\(subject)\(what)" : "\(subject)\(what) (column \(column))"
    }
}
