public import CardRules
public import Postgres

/// `feed.postgres` of the configuration: which table, by which slot, and what its columns mean.
public struct FeedSettings: Hashable, Sendable {
    /// Prints without its password.
    public var address: PostgresAddress
    public var publication: String
    /// The replication slot: the server's note of how far this feed has come. One feed, one slot.
    public var slot: String
    public var schema: String
    public var table: String
    public var sources: [FeedKey: FeedSource]

    public init(
        address: PostgresAddress, publication: String, slot: String, schema: String = "public", table: String,
        sources: [FeedKey: FeedSource]
    ) {
        self.address = address
        self.publication = publication
        self.slot = slot
        self.schema = schema
        self.table = table
        self.sources = sources
    }

    /// Names of the columns that are looked at, each once, in order.
    var columns: [String] { Set(sources.values.compactMap(\.column)).sorted() }
}

extension FeedSettings {
    /// Reads the object under `feed.postgres`:
    ///
    ///     { url, publication, slot, table: "public.game",
    ///       columns: { game: "id", homeScore: "home_score", sport: { value: "hockey" },
    ///                  phase: { column: "status", words: { in_progress: "live" } } } }
    ///
    /// `publication` and `slot` are `lanekeeper` where they are left out.
    ///
    /// - Throws: with the pointer of the field at fault, below `pointer`.
    public init(_ value: JSONValue, at pointer: JSONPointer = .root) throws(FieldFault) {
        var fields = try JSONFields(value, at: pointer)
        guard let url = try fields.given("url", expected: "a libpq URL", { $0.text }) else {
            throw FieldFault(.missing(expected: "a libpq URL"), at: pointer.appending("url"))
        }
        do throws(PostgresError) {
            address = try PostgresAddress(url)
        } catch {
            throw fields.wrong("url", expected: "a libpq URL or key=value text, special characters percent-encoded")
        }
        publication = try fields.given("publication", expected: nameExpected, name) ?? "lanekeeper"
        slot = try fields.given("slot", expected: slotExpected, slotName) ?? "lanekeeper"
        guard let table = try fields.given("table", expected: tableExpected, { $0.text }) else {
            throw FieldFault(.missing(expected: tableExpected), at: pointer.appending("table"))
        }
        let parts = table.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), parts.allSatisfy({ name(.string($0)) != nil }) else {
            throw fields.wrong("table", expected: tableExpected)
        }
        (schema, self.table) = parts.count == 2 ? (parts[0], parts[1]) : ("public", parts[0])
        sources = try FeedSettings.sources(fields.raw("columns"), at: pointer.appending("columns"))
        try fields.end()
    }

    private static func sources(
        _ value: JSONValue?, at pointer: JSONPointer
    ) throws(FieldFault) -> [FeedKey: FeedSource] {
        guard let value else { throw FieldFault(.missing(expected: columnsExpected), at: pointer) }
        var fields = try JSONFields(value, at: pointer)
        var sources: [FeedKey: FeedSource] = [:]
        for key in FeedKey.allCases {
            guard let value = fields.raw(key.rawValue), value != .null else { continue }
            sources[key] = try source(value, at: pointer.appending(key.rawValue))
        }
        try fields.end()
        guard case .column? = sources[.game] else {
            throw FieldFault(.missing(expected: "the column of the game's id"), at: pointer.appending("game"))
        }
        return sources
    }

    private static func source(_ value: JSONValue, at pointer: JSONPointer) throws(FieldFault) -> FeedSource {
        if value.text != nil {
            guard let column = name(value) else { throw FieldFault(.wrongValue(expected: nameExpected), at: pointer) }
            return .column(column, words: [:])
        }
        guard case .object = value else { throw FieldFault(.wrongValue(expected: sourceExpected), at: pointer) }
        var fields = try JSONFields(value, at: pointer)
        let column = try fields.given("column", expected: nameExpected, name)
        let fixed = try fields.given("value", expected: "a text") { $0.text }
        let words = try fields.given("words", expected: "an object of texts", texts)
        try fields.end()
        switch (column, fixed) {
        case (let column?, nil): return .column(column, words: words ?? [:])
        case (nil, let fixed?) where words == nil: return .fixed(fixed)
        default: throw FieldFault(.wrongValue(expected: sourceExpected), at: pointer)
        }
    }
}

private let nameExpected = "a name of 1 to 63 bytes"
private let slotExpected = "a slot's name, 1 to 63 of a-z 0-9 _"
private let tableExpected = "a table's name, with its schema where that is not public"
private let columnsExpected = "an object of keys and their columns"
private let sourceExpected = "a column's name, { column, words } or { value }"

private func name(_ value: JSONValue) -> String? {
    value.text.flatMap { (1...63).contains($0.utf8.count) && !$0.utf8.contains(0) ? $0 : nil }
}

/// What the server takes (`ReplicationSlotValidateName`), with room for the name of the snapshot's own slot.
private func slotName(_ value: JSONValue) -> String? {
    guard let text = value.text, (1...63).contains(text.utf8.count) else { return nil }
    let isGood = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }
    return isGood ? text : nil
}

private func texts(_ value: JSONValue) -> [String: String]? {
    guard case .object(let members) = value else { return nil }
    var texts: [String: String] = [:]
    for member in members {
        guard let text = member.value.text else { return nil }
        texts[member.key] = text
    }
    return texts
}
