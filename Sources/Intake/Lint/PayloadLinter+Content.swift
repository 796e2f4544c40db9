internal import CardRules

extension PayloadLinter {
    mutating func content(_ aps: PlacedValue, _ pointer: String) {
        if let attributes = aps["attributes"], event == .start {
            walk(attributes.value, "\(pointer)/attributes", key: "")
        }
        guard let content = aps["content-state"] else {
            // An end without one keeps what the card shows (ref L18).
            if event == .start || event == .update {
                add(.noContent, at: aps.offset, pointer, "\(event?.rawValue ?? "") without content-state")
            }
            return
        }
        guard content.value.members != nil else {
            return add(
                .contentNotAnObject, at: content.value.offset, "\(pointer)/content-state", "content-state is no object")
        }
        walk(content.value, "\(pointer)/content-state", key: "")
    }

    private mutating func walk(_ value: PlacedValue, _ pointer: String, key: String) {
        switch value.kind {
        case .object(let members):
            for member in members {
                if isSpoilerFree { spoiler(member, pointer) }
                walk(member.value, pointer + pointerStep(member.key), key: member.key)
            }
            if isSpoilerFree { spoilers(ofGame: value, pointer) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { walk(element, "\(pointer)/\(index)", key: key) }
        case .other(let plain): judge(plain, at: value.offset, pointer, key: key)
        }
    }

    private mutating func judge(_ value: JSONValue, at offset: Int, _ pointer: String, key: String) {
        switch value {
        case .null: add(.nullValue, at: offset, pointer, "null where a key can be left out")
        case .integer(let number):
            if Self.likelyMilliseconds.contains(Double(number)) {
                add(.millisecondsInContent, at: offset, pointer, "\(number) looks like milliseconds")
            }
        case .number(let number):
            if Self.likelyMilliseconds.contains(number) {
                add(.millisecondsInContent, at: offset, pointer, "\(number) looks like milliseconds")
            }
        case .string(let text):
            if isDate(text) { add(.dateString, at: offset, pointer, "a date as text: \(text.prefix(40))") }
            if isSpoilerFree, key == "moment" || key == "phase", MomentKind(rawValue: text) != nil {
                add(.spoiler, at: offset, pointer, "names a moment: \(text)")
            }
        case .bool(let flag):
            if isSpoilerFree, key == "spoilerFree", !flag {
                add(.spoiler, at: offset, pointer, "spoilerFree is false")
            }
        case .array, .object: break
        }
    }

    /// 2014 to 2052.
    private static let likelyMilliseconds = 1.4e12..<2.6e12

    /// P2: scores, who leads, how it ended; a detail can hold any of them.
    private mutating func spoiler(_ member: PlacedValue.Member, _ pointer: String) {
        guard member.value.plain != .null, member.key != "spoilerFree" else { return }
        let name = letters(of: member.key)
        guard Self.tellingKeys.contains(name) || name.hasSuffix("score") || name.hasSuffix("scores") else { return }
        add(.spoiler, at: member.offset, pointer + pointerStep(member.key), "\(member.key) tells how it stands")
    }

    private static let tellingKeys: Set<String> = [
        "detail", "moment", "leader", "winner", "loser", "outcome", "result", "lead", "margin", "homegoals",
        "awaygoals",
        "homeruns", "awayruns", "homepoints", "awaypoints", "isovertime", "overtime", "isshootout", "shootout",
    ]

    /// P2: beyond regulation the period and the clock tell that it was level.
    private mutating func spoilers(ofGame game: PlacedValue, _ pointer: String) {
        guard let sport = game["sport"]?.value.plain?.text, let period = game["period"],
            let number = period.value.plain?.wholeNumber,
            let regulation = regulationPeriods(of: Sport(sport)), number > regulation
        else { return }
        add(.spoiler, at: period.offset, "\(pointer)/period", "period \(number) is beyond regulation")
        if let clock = game["clock"] {
            add(.spoiler, at: clock.offset, "\(pointer)/clock", "the clock of play beyond regulation")
        }
    }

    private func regulationPeriods(of sport: Sport) -> Int? {
        switch sport {
        case .basketball: tuning.moments.basketball.regulationPeriods
        case .hockey: tuning.moments.hockey.regulationPeriods
        case .football: tuning.moments.football.regulationPeriods
        case .soccer: tuning.moments.soccer.regulationPeriods
        case .baseball: tuning.moments.baseball.regulationPeriods
        case .other: nil
        }
    }

    /// `2026-11-30`, with or without a time behind it (ISO 8601, RFC 3339).
    private func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8.prefix(12))
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return false }
        for place in [0, 1, 2, 3, 5, 6, 8, 9] where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) {
            return false
        }
        return bytes.count == 10 || bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ")
    }
}
