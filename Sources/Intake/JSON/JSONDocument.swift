public import CardRules

/// A JSON text that was read, with its bytes, so that what is wrong with a value can say where the value stands.
public struct JSONDocument: Hashable, Sendable {
    public let bytes: [UInt8]
    public let dialect: JSONDialect
    public let root: JSONValue

    public init(_ bytes: [UInt8], dialect: JSONDialect = .strict) throws(JSONFault) {
        root = try JSONScanner.value(in: bytes.span, dialect: dialect)
        self.bytes = bytes
        self.dialect = dialect
    }

    /// Where a value stands in the bytes. The text is read again for it: meant for faults, not for every value.
    ///
    /// - Returns: `nil` when there is no such value.
    public func range(of pointer: JSONPointer) -> Range<Int>? {
        var scanner = JSONScanner(dialect: dialect)
        return try? find(pointer.steps[...], from: &scanner)
    }

    /// The line from 1 of a value; of the nearest value around it where there is none.
    public func line(of pointer: JSONPointer) -> Int {
        var pointer = pointer
        while range(of: pointer) == nil, !pointer.steps.isEmpty { pointer = pointer.parent }
        let offset = range(of: pointer)?.lowerBound ?? 0
        return JSONFault(.unexpectedEnd, at: offset).place(in: bytes.span).line
    }

    private func find(_ steps: ArraySlice<String>, from scanner: inout JSONScanner) throws(JSONFault) -> Range<Int>? {
        let first = try scanner.peek(bytes.span)
        let start = scanner.position
        guard let step = steps.first else {
            _ = try scanner.value(bytes.span)
            return start..<scanner.position
        }
        var found: Range<Int>?
        switch first {
        case UInt8(ascii: "{"):
            try scanner.object(bytes.span) { (key, _, scanner) throws(JSONFault) in
                if key == step {
                    found = try find(steps.dropFirst(), from: &scanner)
                } else {
                    _ = try scanner.value(bytes.span)
                }
            }
        case UInt8(ascii: "["):
            try scanner.array(bytes.span) { (index, scanner) throws(JSONFault) in
                if step == "\(index)" {
                    found = try find(steps.dropFirst(), from: &scanner)
                } else {
                    _ = try scanner.value(bytes.span)
                }
            }
        default: _ = try scanner.value(bytes.span)
        }
        return found
    }
}

/// The way to a value inside a JSON text (RFC 6901).
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// Keys of objects and places in arrays, unescaped; none for the whole text.
    public let steps: [String]

    public static let root = JSONPointer([])

    public init(_ steps: [String]) { self.steps = steps }

    public func appending(_ step: String) -> JSONPointer { JSONPointer(steps + [step]) }

    public var parent: JSONPointer { JSONPointer(Array(steps.dropLast())) }

    /// `/quietHours/from`; empty for the whole text. `~` and `/` inside a step are `~0` and `~1`.
    public var description: String {
        steps.map { step in
            var text = "/"
            for scalar in step.unicodeScalars {
                switch scalar {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text
        }.joined()
    }
}
