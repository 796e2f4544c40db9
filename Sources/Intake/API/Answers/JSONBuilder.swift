internal import CardRules
internal import PushWire

/// Writes JSON for answers: members in the order in which they are said, commas its own business, null for what is not
/// there.
struct JSONBuilder {
    private var writer = JSONWriter()
    private var needsComma = false

    var bytes: [UInt8] { writer.bytes }

    static func object(_ members: (inout JSONBuilder) -> Void) -> [UInt8] {
        var builder = JSONBuilder()
        builder.object(members)
        return builder.bytes
    }

    mutating func object(_ members: (inout JSONBuilder) -> Void) {
        begin()
        writer.raw("{")
        needsComma = false
        members(&self)
        writer.raw("}")
        needsComma = true
    }

    mutating func array<Element>(
        _ elements: some Sequence<Element>, _ element: (inout JSONBuilder, Element) -> Void
    ) {
        begin()
        writer.raw("[")
        needsComma = false
        for each in elements { element(&self, each) }
        writer.raw("]")
        needsComma = true
    }

    // MARK: - Members

    mutating func object(_ name: String, _ members: (inout JSONBuilder) -> Void) {
        key(name)
        object(members)
    }

    mutating func array<Element>(
        _ name: String, _ elements: some Sequence<Element>, _ element: (inout JSONBuilder, Element) -> Void
    ) {
        key(name)
        array(elements, element)
    }

    mutating func member(_ name: String, _ text: String?) {
        key(name)
        value(text)
    }

    mutating func member(_ name: String, _ number: Int64?) {
        key(name)
        if let number { value(number) } else { null() }
    }

    mutating func member(_ name: String, _ number: Int?) { member(name, number.map { Int64($0) }) }

    mutating func member(_ name: String, _ number: Double) {
        key(name)
        begin()
        writer.number(number)
        needsComma = true
    }

    mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        begin()
        writer.bool(flag)
        needsComma = true
    }

    /// Whole Unix seconds.
    mutating func member(_ name: String, _ time: WallTime?) { member(name, time?.unixSeconds) }

    mutating func member(_ name: String, _ json: JSONValue?) {
        key(name)
        begin()
        writer.value(json ?? .null)
        needsComma = true
    }

    mutating func member(_ name: String, rawJSON bytes: [UInt8]?) {
        key(name)
        begin()
        if let bytes { writer.raw(bytes) } else { writer.raw("null") }
        needsComma = true
    }

    /// An object where there is something, null where there is nothing.
    mutating func member<Value>(_ name: String, _ value: Value?, _ members: (inout JSONBuilder, Value) -> Void) {
        key(name)
        guard let value else { return null() }
        object { members(&$0, value) }
    }

    // MARK: - Elements

    mutating func value(_ text: String?) {
        guard let text else { return null() }
        begin()
        writer.string(text)
        needsComma = true
    }

    mutating func value(_ number: Int64) {
        begin()
        writer.integer(number)
        needsComma = true
    }

    mutating func null() {
        begin()
        writer.raw("null")
        needsComma = true
    }

    private mutating func key(_ name: String) {
        begin()
        writer.string(name)
        writer.raw(":")
        needsComma = false
    }

    private mutating func begin() {
        if needsComma { writer.raw(",") }
    }
}
