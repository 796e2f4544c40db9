extension SlateContent.Game {
    /// 64 bits of all that a card draws of the game: equal content, equal number, also after a change and back (U1).
    var face: UInt64 {
        var hash = ContentHash()
        hash.add(id.text)
        hash.add(sport)
        hash.add(league ?? "\u{0}")
        hash.add(home)
        hash.add(away)
        hash.add(phase.rawValue)
        hash.add(UInt64(bitPattern: Int64(period ?? .min)))
        hash.add(clock ?? "\u{0}")
        hash.add(UInt64(bitPattern: Int64(homeScore ?? .min)))
        hash.add(UInt64(bitPattern: Int64(awayScore ?? .min)))
        hash.add(moment?.rawValue ?? "\u{0}")
        if let detail { hash.add(detail) }
        return hash.value
    }
}

extension ContentHash {
    mutating func add(_ value: JSONValue) {
        switch value {
        case .null: add(UInt64(1))
        case .bool(let bool): add(UInt64(bool ? 3 : 2))
        case .integer(let number): add(UInt64(bitPattern: number))
        case .number(let number): add(number.bitPattern)
        case .string(let text): add(text)
        case .array(let elements):
            add(UInt64(elements.count))
            for element in elements { add(element) }
        case .object(let members):
            add(UInt64(members.count))
            for member in members {
                add(member.key)
                add(member.value)
            }
        }
    }
}
