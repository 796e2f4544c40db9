internal import CardRules

/// What stands in `aps` besides alert and content (ref 4.1).
extension PayloadLinter {
    static let apsKeys: Set<String> = [
        "timestamp", "event", "content-state", "attributes-type", "attributes", "alert", "stale-date", "dismissal-date",
        "relevance-score", "input-push-token", "input-push-channel", "interruption-level",
    ]

    mutating func aps(_ aps: PlacedValue, _ pointer: String) {
        unknownKeys(aps, pointer)
        event(aps, pointer)
        timestamp = time("timestamp", of: aps, pointer)
        if aps["timestamp"] == nil { add(.noTimestamp, at: aps.offset, pointer, "no timestamp") }
        dates(aps, pointer)
        inputs(aps, pointer)
        if event == .start { attributes(aps, pointer) }
        if let score = aps["relevance-score"], !isNumber(score.value) {
            add(.badRelevance, at: score.value.offset, "\(pointer)/relevance-score", "relevance-score is no number")
        }
        alert(aps, pointer)
        content(aps, pointer)
    }

    private mutating func unknownKeys(_ aps: PlacedValue, _ pointer: String) {
        for member in aps.members ?? [] where !Self.apsKeys.contains(member.key) {
            let place = pointer + pointerStep(member.key)
            switch member.key {
            case "content-available": add(.silentPush, at: member.offset, place, "content-available")
            case "sound": add(.soundBesideAlert, at: member.offset, place, "sound stands beside alert")
            default:
                let meant = Self.apsKeys.first { letters(of: $0) == letters(of: member.key) }
                add(
                    .unknownKey, at: member.offset, place,
                    "\(member.key) is no key of a Live Activity" + (meant.map { ": \($0) is meant" } ?? ""))
            }
        }
    }

    private mutating func event(_ aps: PlacedValue, _ pointer: String) {
        guard let member = aps["event"] else { return add(.noEvent, at: aps.offset, pointer, "no event") }
        guard case .string(let name) = member.value.plain else {
            return add(.unknownEvent, at: member.value.offset, "\(pointer)/event", "event is no text")
        }
        event = Event(rawValue: name)
        if event == nil {
            add(
                .unknownEvent, at: member.value.offset, "\(pointer)/event", "event is start, update or end, not \(name)"
            )
        }
    }

    private mutating func dates(_ aps: PlacedValue, _ pointer: String) {
        let stale = time("stale-date", of: aps, pointer)
        if let member = aps["stale-date"] {
            if event == .start {
                add(.staleOnStart, at: member.offset, "\(pointer)/stale-date", "a start has a stale-date")
            } else if let stale, let timestamp, stale <= timestamp {
                add(.staleAtOnce, at: member.value.offset, "\(pointer)/stale-date", "stale-date is not after timestamp")
            }
        }
        let dismissal = aps["dismissal-date"]
        let date = time("dismissal-date", of: aps, pointer)
        if let dismissal, let event, event != .end {
            add(
                .dismissalWithoutEnd, at: dismissal.offset, "\(pointer)/dismissal-date",
                "dismissal-date on a push that is no end")
        }
        guard event == .end else { return }
        guard let dismissal else { return add(.noDismissal, at: aps.offset, pointer, "an end without dismissal-date") }
        if let date, let timestamp, date - timestamp > 4 * 3600 {
            add(
                .dismissalTooLate, at: dismissal.value.offset, "\(pointer)/dismissal-date",
                "dismissal-date is more than four hours after timestamp")
        }
    }

    /// A time in `aps`: whole Unix seconds. `nil` where it is not there or cannot be meant.
    private mutating func time(_ key: String, of aps: PlacedValue, _ pointer: String) -> Int64? {
        guard let member = aps[key] else { return nil }
        let place = "\(pointer)/\(key)"
        let seconds: Int64
        switch member.value.plain {
        case .integer(let value): seconds = value
        case .number(let value) where value.rounded() == value && value.magnitude < 9e15: seconds = Int64(value)
        default:
            add(.notWholeSeconds, at: member.value.offset, place, "\(key) is no whole number of Unix seconds")
            return nil
        }
        if seconds >= Self.milliseconds {
            add(.milliseconds, at: member.value.offset, place, "\(key) is in milliseconds")
            return nil
        }
        // A dismissal in the past, 0 too, is the way to dismiss at once (ref I6).
        if key != "dismissal-date", seconds < Self.earliestSeconds {
            add(
                .implausibleTime, at: member.value.offset, place,
                "\(key) is before 2020: Unix seconds are meant, not seconds since 2001")
            return nil
        }
        return seconds
    }

    private mutating func inputs(_ aps: PlacedValue, _ pointer: String) {
        let (token, channel) = (aps["input-push-token"], aps["input-push-channel"])
        if let event, event != .start {
            for input in [token, channel].compactMap(\.self) {
                add(
                    .inputWithoutStart, at: input.offset, "\(pointer)/\(input.key)",
                    "\(input.key) on a push that is no start")
            }
            return
        }
        if let token, token.value.plain?.wholeNumber != 1 {
            add(.badInput, at: token.value.offset, "\(pointer)/input-push-token", "input-push-token is 1")
        }
        if let channel, (channel.value.plain?.text ?? "").isEmpty {
            add(
                .badInput, at: channel.value.offset, "\(pointer)/input-push-channel",
                "input-push-channel is a channel's id")
        }
        if token != nil, let channel {
            add(
                .twoInputs, at: channel.offset, "\(pointer)/input-push-channel",
                "both input-push-token and input-push-channel")
        }
        if event == .start, token == nil, channel == nil {
            add(.noInput, at: aps.offset, pointer, "a start without input-push-token")
        }
    }

    private mutating func attributes(_ aps: PlacedValue, _ pointer: String) {
        if let type = aps["attributes-type"] {
            if (type.value.plain?.text ?? "").isEmpty {
                add(
                    .noAttributesType, at: type.value.offset, "\(pointer)/attributes-type",
                    "attributes-type is the name of a Swift type")
            }
        } else {
            add(.noAttributesType, at: aps.offset, pointer, "a start without attributes-type")
        }
        if let attributes = aps["attributes"] {
            if attributes.value.members == nil {
                add(.noAttributes, at: attributes.value.offset, "\(pointer)/attributes", "attributes is no object")
            }
        } else {
            add(.noAttributes, at: aps.offset, pointer, "a start without attributes, {} at least")
        }
    }

    private func isNumber(_ value: PlacedValue) -> Bool {
        switch value.plain {
        case .integer, .number: true
        default: false
        }
    }
}

/// `contentState`, `content_state` and `content-state` are the same letters.
func letters(of key: String) -> String { key.lowercased().filter { $0 != "-" && $0 != "_" } }
