public import CardRules

/// A line of the slate as versioned bytes: what arrived, to be played again after a restart.
public enum SlateLineCodec {
    public static let version: UInt8 = 1

    public static func encode(_ line: SlateLine) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        switch line {
        case .game(let patch):
            writer.byte(0)
            writer.game(patch)
        case .score(let patch):
            writer.byte(1)
            writer.score(patch)
        }
        return writer.bytes
    }

    /// - Throws: `CodecFault`, naming the field.
    public static func decode(_ bytes: [UInt8]) throws(CodecFault) -> SlateLine {
        var reader = ByteReader(bytes)
        let found = try reader.byte("version")
        guard found == version else { throw reader.fault("version", .version(Int(found))) }
        let line: SlateLine = try reader.bool("type") ? .score(try reader.score()) : .game(try reader.game())
        try reader.finish("line")
        return line
    }
}

extension ByteWriter {
    fileprivate mutating func game(_ patch: GamePatch) {
        id(patch.game)
        time(patch.at)
        patched(patch.sport) { $0.text($1.name) }
        patched(patch.league) { $0.text($1) }
        patched(patch.home) { $0.text($1) }
        patched(patch.away) { $0.text($1) }
        patched(patch.startsAt) { $0.time($1) }
        patched(patch.homeRank) { $0.int($1) }
        patched(patch.awayRank) { $0.int($1) }
        patched(patch.spread) { $0.double($1) }
        patched(patch.favourite) { $0.bool($1 == .away) }
        optional(patch.version) { $0.signed($1) }
        members(patch.others)
    }

    fileprivate mutating func score(_ patch: ScorePatch) {
        id(patch.game)
        time(patch.at)
        patched(patch.home) { $0.int($1) }
        patched(patch.away) { $0.int($1) }
        patched(patch.period) { $0.int($1) }
        patched(patch.clock) { $0.text($1) }
        patched(patch.phase) { $0.text($1.rawValue) }
        patched(patch.detail) { $0.json($1) }
        optional(patch.version) { $0.signed($1) }
        bool(patch.isCorrection)
        members(patch.others)
    }

    mutating func patched<Value>(_ value: Patched<Value>, _ write: (inout ByteWriter, Value) -> Void) {
        switch value {
        case .absent: byte(0)
        case .null: byte(1)
        case .value(let value):
            byte(2)
            write(&self, value)
        }
    }

    private mutating func members(_ members: [String: JSONValue]) {
        list(members.sorted { $0.key < $1.key }) {
            $0.text($1.key)
            $0.json($1.value)
        }
    }

    mutating func json(_ value: JSONValue) {
        switch value {
        case .null: byte(0)
        case .bool(let value): byte(value ? 2 : 1)
        case .integer(let value):
            byte(3)
            signed(value)
        case .number(let value):
            byte(4)
            double(value)
        case .string(let value):
            byte(5)
            text(value)
        case .array(let elements):
            byte(6)
            list(elements) { $0.json($1) }
        case .object(let members):
            byte(7)
            list(members) {
                $0.text($1.key)
                $0.json($1.value)
            }
        }
    }
}

extension ByteReader {
    /// Deeper than any line that was let in: a bound on the stack, whatever the bytes are.
    private static let maxDepth = 128

    fileprivate mutating func game() throws(CodecFault) -> GamePatch {
        let game: GameID = try id("game")
        var patch = GamePatch(game: game, at: try time("at"))
        patch.sport = try patched("sport") { reader throws(CodecFault) in Sport(try reader.text("sport")) }
        patch.league = try patched("league") { reader throws(CodecFault) in try reader.text("league") }
        patch.home = try patched("home") { reader throws(CodecFault) in try reader.text("home") }
        patch.away = try patched("away") { reader throws(CodecFault) in try reader.text("away") }
        patch.startsAt = try patched("startsAt") { reader throws(CodecFault) in try reader.time("startsAt") }
        patch.homeRank = try patched("homeRank") { reader throws(CodecFault) in try reader.int("homeRank") }
        patch.awayRank = try patched("awayRank") { reader throws(CodecFault) in try reader.int("awayRank") }
        patch.spread = try patched("spread") { reader throws(CodecFault) in try reader.double("spread") }
        patch.favourite = try patched("favourite") { reader throws(CodecFault) in
            try reader.bool("favourite") ? .away : .home
        }
        patch.version = try optional("version") { reader throws(CodecFault) in try reader.signed("version") }
        patch.others = try members("others")
        return patch
    }

    fileprivate mutating func score() throws(CodecFault) -> ScorePatch {
        let game: GameID = try id("game")
        var patch = ScorePatch(game: game, at: try time("at"))
        patch.home = try patched("home") { reader throws(CodecFault) in try reader.int("home") }
        patch.away = try patched("away") { reader throws(CodecFault) in try reader.int("away") }
        patch.period = try patched("period") { reader throws(CodecFault) in try reader.int("period") }
        patch.clock = try patched("clock") { reader throws(CodecFault) in try reader.text("clock") }
        patch.phase = try patched("phase") { reader throws(CodecFault) in try reader.word("phase") }
        patch.detail = try patched("detail") { reader throws(CodecFault) in try reader.json("detail", depth: 0) }
        patch.version = try optional("version") { reader throws(CodecFault) in try reader.signed("version") }
        patch.isCorrection = try bool("correction")
        patch.others = try members("others")
        return patch
    }

    mutating func patched<Value>(
        _ field: String, _ read: (inout ByteReader) throws(CodecFault) -> Value
    ) throws(CodecFault) -> Patched<Value> {
        switch try byte(field) {
        case 0: return .absent
        case 1: return .null
        case 2: return .value(try read(&self))
        default: throw fault(field)
        }
    }

    private mutating func members(_ field: String) throws(CodecFault) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        let pairs = try list(field) { reader throws(CodecFault) in
            (try reader.text(field), try reader.json(field, depth: 0))
        }
        for (key, value) in pairs {
            guard members.updateValue(value, forKey: key) == nil else { throw fault(field) }
        }
        return members
    }

    mutating func json(_ field: String, depth: Int) throws(CodecFault) -> JSONValue {
        guard depth < Self.maxDepth else { throw fault(field) }
        switch try byte(field) {
        case 0: return .null
        case 1: return .bool(false)
        case 2: return .bool(true)
        case 3: return .integer(try signed(field))
        case 4: return .number(try double(field))
        case 5: return .string(try text(field))
        case 6:
            return .array(
                try list(field) { reader throws(CodecFault) in try reader.json(field, depth: depth + 1) })
        case 7:
            return .object(
                try list(field) { reader throws(CodecFault) in
                    let key = try reader.text(field)
                    return JSONValue.Member(key: key, value: try reader.json(field, depth: depth + 1))
                })
        default: throw fault(field)
        }
    }
}
