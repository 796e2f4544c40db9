internal import CardRules

extension PayloadLinter {
    mutating func alert(_ aps: PlacedValue, _ pointer: String) {
        guard let member = aps["alert"] else {
            if event == .start { add(.noAlert, at: aps.offset, pointer, "a start without alert") }
            return
        }
        let pointer = "\(pointer)/alert"
        let alert = member.value
        guard let members = alert.members else {
            return add(.alertNotAnObject, at: alert.offset, pointer, "alert is no object")
        }
        text("title", of: alert, pointer)
        text("body", of: alert, pointer)
        for member in members {
            switch member.key {
            case "title-loc-key", "title-loc-args", "loc-key", "loc-args", "subtitle-loc-key", "subtitle-loc-args":
                add(
                    .oldLocalization, at: member.offset, "\(pointer)/\(member.key)",
                    "\(member.key) is the way of other notifications")
            case "sound":
                if (member.value.plain?.text ?? "").isEmpty {
                    add(.badSound, at: member.value.offset, "\(pointer)/sound", "sound is no text")
                }
            default: break
            }
        }
    }

    private mutating func text(_ key: String, of alert: PlacedValue, _ pointer: String) {
        guard let member = alert[key] else {
            return add(.blankAlert, at: alert.offset, pointer, "an alert without \(key)")
        }
        let place = "\(pointer)/\(key)"
        if let members = member.value.members {
            let key = member.value["loc-key"]?.value.plain?.text
            if key?.isEmpty ?? true {
                add(.badAlertText, at: member.value.offset, place, "\(member.key) is an object without loc-key")
            }
            guard let args = members.first(where: { $0.key == "loc-args" }) else { return }
            guard case .array(let elements) = args.value.kind else {
                return add(.badAlertText, at: args.value.offset, "\(place)/loc-args", "loc-args is no array of texts")
            }
            for (index, element) in elements.enumerated() {
                let place = "\(place)/loc-args/\(index)"
                guard let text = element.plain?.text else {
                    add(.badAlertText, at: element.offset, place, "an argument is no text")
                    continue
                }
                spoilers(inText: text, at: element.offset, place)
            }
            return
        }
        guard let text = member.value.plain?.text else {
            return add(.badAlertText, at: member.value.offset, place, "\(key) is no text")
        }
        if text.allSatisfy(\.isWhitespace) {
            add(.blankAlert, at: member.value.offset, place, "\(key) shows nothing")
        }
        spoilers(inText: text, at: member.value.offset, place)
    }

    /// P2, as far as words can be recognised.
    private mutating func spoilers(inText text: String, at offset: Int, _ pointer: String) {
        guard isSpoilerFree else { return }
        if let score = score(in: text) { add(.spoiler, at: offset, pointer, "shows a score: \(score)") }
        let words = text.lowercased().split { !$0.isLetter && $0 != "-" }.map(String.init)
        if let word = words.first(where: Self.tellingWords.contains) {
            add(.spoiler, at: offset, pointer, "tells how it stands: \(word)")
        }
    }

    /// Words that name a leader, an outcome or a moment.
    private static let tellingWords: Set<String> = [
        "lead", "leads", "leading", "trail", "trails", "trailing", "ahead", "win", "wins", "won", "winner", "lose",
        "loses",
        "lost", "beat", "beats", "defeat", "defeats", "tied", "ties", "overtime", "ot", "shootout", "penalties",
        "comeback", "upset", "walk-off", "walkoff", "goal", "goals", "scored",
    ]

    /// `98-101`, `3 : 2`; a time of day (`22:15`, always two digits after the colon) is none.
    private func score(in text: String) -> String? {
        let characters = Array(text)
        var start = 0
        while start < characters.count {
            guard isDigit(characters[start]) else {
                start += 1
                continue
            }
            let isPart = start > 0 && isJoined(characters[start - 1])
            var middle = start
            while middle < characters.count, isDigit(characters[middle]) { middle += 1 }
            var second = middle
            while second < characters.count, characters[second] == " " { second += 1 }
            guard !isPart, second < characters.count, "-–—:".contains(characters[second]) else {
                start = middle
                continue
            }
            let isColon = characters[second] == ":"
            second += 1
            while second < characters.count, characters[second] == " " { second += 1 }
            var end = second
            while end < characters.count, isDigit(characters[end]) { end += 1 }
            if end > second, middle - start <= 3, end - second <= 3, !(isColon && end - second == 2) {
                return String(characters[start..<end])
            }
            start = middle
        }
        return nil
    }

    /// Part of a word, of a date or of a time.
    private func isJoined(_ character: Character) -> Bool { character.isLetter || "-–—:/.".contains(character) }

    private func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}
