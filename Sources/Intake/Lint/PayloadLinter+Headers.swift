internal import CardRules

/// The headers of a push (ref 1.2). Names are taken in any case, as HTTP does.
extension PayloadLinter {
    mutating func headers(_ value: PlacedValue) {
        guard let members = value.members else {
            return add(.badHeaders, at: value.offset, "/headers", "headers is no object")
        }
        var headers: [String: Header] = [:]
        for member in members {
            let name = member.key.lowercased()
            let place = "/headers" + pointerStep(member.key)
            guard let text = text(of: member.value) else {
                add(.badHeaders, at: member.value.offset, place, "\(name) is neither a text nor a whole number")
                continue
            }
            guard headers[name] == nil else {
                add(.repeatedHeader, at: member.offset, place, "\(name) stands twice")
                continue
            }
            headers[name] = Header(text: text, offset: member.value.offset, pointer: place)
        }
        target(headers, value)
        priority(headers["apns-priority"])
        expiration(headers["apns-expiration"], value)
        ids(headers, value)
    }

    private struct Header {
        let text: String
        let offset: Int
        let pointer: String
    }

    private func text(of value: PlacedValue) -> String? {
        switch value.plain {
        case .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }

    private mutating func target(_ headers: [String: Header], _ all: PlacedValue) {
        if let type = headers["apns-push-type"] {
            if type.text != "liveactivity" {
                add(.badPushType, at: type.offset, type.pointer, "apns-push-type is liveactivity, not \(type.text)")
            }
        } else {
            add(.badPushType, at: all.offset, "/headers", "no apns-push-type")
        }
        let suffix = ".push-type.liveactivity"
        if let topic = headers["apns-topic"] {
            if !topic.text.hasSuffix(suffix) || topic.text.utf8.count == suffix.utf8.count {
                add(.badTopic, at: topic.offset, topic.pointer, "apns-topic is the bundle id and \(suffix)")
            }
        } else {
            add(.badTopic, at: all.offset, "/headers", "no apns-topic")
        }
    }

    /// Left out it is 10.
    private mutating func priority(_ priority: Header?) {
        guard let priority else { return }
        guard priority.text == "5" || priority.text == "10" else {
            return add(
                .badPriority, at: priority.offset, priority.pointer, "apns-priority is 5 or 10, not \(priority.text)")
        }
        if priority.text == "5", let event, event != .update {
            add(
                .priorityOfEvent, at: priority.offset, priority.pointer,
                "a push of event \(event.rawValue) has priority 10")
        }
    }

    private mutating func expiration(_ expiration: Header?, _ all: PlacedValue) {
        guard let expiration else { return add(.noExpiration, at: all.offset, "/headers", "no apns-expiration") }
        let (offset, pointer) = (expiration.offset, expiration.pointer)
        guard let seconds = Int64(expiration.text), expiration.text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return add(.badExpiration, at: offset, pointer, "apns-expiration is no whole number of Unix seconds")
        }
        if seconds >= Self.milliseconds {
            add(.badExpiration, at: offset, pointer, "apns-expiration is in milliseconds")
        } else if seconds == 0 {
            add(.noAttemptLater, at: offset, pointer, "apns-expiration is 0")
        } else if seconds <= timestamp ?? Self.earliestSeconds {
            add(.expired, at: offset, pointer, "apns-expiration is not after the payload's timestamp")
        }
    }

    private mutating func ids(_ headers: [String: Header], _ all: PlacedValue) {
        if let id = headers["apns-id"] {
            if !isCanonicalUUID(id.text) {
                add(.badID, at: id.offset, id.pointer, "apns-id is a UUID in lower case, 8-4-4-4-12")
            }
        } else {
            add(.noID, at: all.offset, "/headers", "no apns-id")
        }
        if let id = headers["apns-collapse-id"] {
            if !(1...64).contains(id.text.utf8.count) {
                add(.badCollapseID, at: id.offset, id.pointer, "apns-collapse-id has 1 to 64 bytes")
            }
        } else if event == .start {
            add(.noCollapseID, at: all.offset, "/headers", "a start without apns-collapse-id")
        }
    }

    private func isCanonicalUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "-"): guard [8, 13, 18, 23].contains(place) else { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                guard ![8, 13, 18, 23].contains(place) else { return false }
            default: return false
            }
        }
        return true
    }
}
