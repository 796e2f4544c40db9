public import CardRules

/// The members of one object of a body or a file, taken one by one; what nobody takes is a fault.
public struct JSONFields {
    public let pointer: JSONPointer
    private let members: [JSONValue.Member]
    /// Every key that was asked for, to name the nearest.
    private var known: [String] = []

    /// - Throws: when the value is no object.
    public init(_ value: JSONValue, at pointer: JSONPointer = .root) throws(FieldFault) {
        guard case .object(let members) = value else {
            throw FieldFault(.wrongValue(expected: "an object"), at: pointer)
        }
        self.members = members
        self.pointer = pointer
    }

    /// A field that may be left out or null.
    ///
    /// - Parameter read: `nil` for a value that is not what the field holds.
    public mutating func take<Value>(
        _ key: String, expected: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(FieldFault) -> Patched<Value> {
        guard let value = raw(key) else { return .absent }
        guard value != .null else { return .null }
        guard let read = read(value) else { throw wrong(key, expected: expected()) }
        return .value(read)
    }

    /// A field that may be left out and not be null.
    public mutating func given<Value: Hashable & Sendable>(
        _ key: String, expected: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(FieldFault) -> Value? {
        switch try take(key, expected: expected(), read) {
        case .absent: return nil
        case .null: throw wrong(key, expected: expected())
        case .value(let value): return value
        }
    }

    /// A field that must be there.
    public mutating func needed<Value: Hashable & Sendable>(
        _ key: String, expected: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(FieldFault) -> Value {
        guard let value = try given(key, expected: expected(), read) else {
            throw FieldFault(.missing(expected: expected()), at: pointer.appending(key))
        }
        return value
    }

    /// The value as it is; `nil` when it was left out.
    public mutating func raw(_ key: String) -> JSONValue? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    public mutating func flag(_ key: String) throws(FieldFault) -> Bool? {
        try given(key, expected: "true or false") { value in
            if case .bool(let flag) = value { flag } else { nil }
        }
    }

    /// To be called when all has been taken.
    ///
    /// - Throws: for a key that nobody asked for, the first in the order of the names.
    public func end() throws(FieldFault) {
        for member in members where !known.contains(member.key) {
            throw FieldFault(
                .unknownKey(nearest: nearestName(to: member.key, among: known)), at: pointer.appending(member.key))
        }
    }

    public func wrong(_ key: String, expected: String) -> FieldFault {
        FieldFault(.wrongValue(expected: expected), at: pointer.appending(key))
    }
}

/// What is wrong with one field of a well-formed text: the `field` and `detail` of a 422 (api.md).
public struct FieldFault: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case missing(expected: String)
        case unknownKey(nearest: String?)
        /// The value is not what the field holds; `expected` says what it would be.
        case wrongValue(expected: String)
    }

    public var reason: Reason
    public var pointer: JSONPointer

    public init(_ reason: Reason, at pointer: JSONPointer) {
        self.reason = reason
        self.pointer = pointer
    }

    /// Without the field's name.
    public var detail: String {
        switch reason {
        case .missing(let expected): "is missing: \(expected)"
        case .unknownKey(nil): "no such key"
        case .unknownKey(let nearest?): "no such key; \(nearest)?"
        case .wrongValue(let expected): "must be \(expected)"
        }
    }
}

extension FieldFault: CustomStringConvertible {
    /// One line for people. `/quietHours/from: must be HH:MM, "00:00" to "23:59"`
    public var description: String { pointer.steps.isEmpty ? detail : "\(pointer): \(detail)" }
}
