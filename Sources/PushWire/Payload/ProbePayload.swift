internal import CardRules

/// P1: a probe's payload is the finished one of an ordinary start with one field of `aps` changed.
struct ProbePayload {
    /// Where in the payload each member of `aps` lies, in order: from the quote of its name to the end of its value.
    private struct Member {
        let name: [UInt8]
        let range: Range<Int>
        let value: Range<Int>
    }

    private let payload: [UInt8]
    private let members: [Member]

    /// `nil` for bytes that are not of the form `{"aps":{...}}`.
    init?(_ payload: [UInt8]) {
        let head = Array("{\"aps\":{".utf8)
        guard payload.starts(with: head), payload.suffix(2) == [UInt8(ascii: "}"), UInt8(ascii: "}")] else {
            return nil
        }
        var members: [Member] = []
        var place = head.count
        while place < payload.count, payload[place] == UInt8(ascii: "\"") {
            let nameEnd = Self.end(ofValueAt: place, in: payload)
            guard nameEnd < payload.count, payload[nameEnd] == UInt8(ascii: ":") else { return nil }
            let end = Self.end(ofValueAt: nameEnd + 1, in: payload)
            members.append(
                Member(
                    name: Array(payload[(place + 1)..<(nameEnd - 1)]), range: place..<end,
                    value: (nameEnd + 1)..<end))
            guard end < payload.count, payload[end] == UInt8(ascii: ",") else { break }
            place = end + 1
        }
        guard let last = members.last, last.range.upperBound == payload.count - 2 else { return nil }
        self.payload = payload
        self.members = members
    }

    /// - Parameter bareContent: the content state with its required keys alone.
    func bytes(for push: ProbePush, bareContent: [UInt8]) -> [UInt8] {
        switch push.variant {
        case .full: payload
        case .noAlert: changed { $0 == "alert" ? .some(nil) : nil }
        case .noInputPushToken: changed { $0 == "input-push-token" ? .some(nil) : nil }
        case .bareContent: changed { $0 == "content-state" ? .some(bareContent) : nil }
        case .staleDate: changed(adding: "\"stale-date\":\(push.staleDate)") { _ in nil }
        }
    }

    /// The payload with members taken out (`.some(nil)`), given another value, or left as they are (`nil`).
    private func changed(adding text: String? = nil, _ change: (StaticName) -> [UInt8]??) -> [UInt8] {
        var bytes = Array("{\"aps\":{".utf8)
        var isFirst = true
        func begin() {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
        }
        for member in members {
            let value: [UInt8]
            switch change(StaticName(bytes: member.name)) {
            case nil: value = Array(payload[member.value])
            case .some(nil): continue
            case .some(.some(let other)): value = other
            }
            begin()
            bytes += payload[member.range.lowerBound..<member.value.lowerBound]
            bytes += value
        }
        if let text {
            begin()
            bytes += text.utf8
        }
        return bytes + "}}".utf8
    }

    private struct StaticName {
        let bytes: [UInt8]
        static func == (name: StaticName, text: String) -> Bool { name.bytes.elementsEqual(text.utf8) }
    }

    /// Behind the value that begins there: a string, an object, an array, or what ends before a comma or a bracket.
    private static func end(ofValueAt start: Int, in bytes: [UInt8]) -> Int {
        var (place, depth, isInString) = (start, 0, false)
        while place < bytes.count {
            let byte = bytes[place]
            if isInString {
                if byte == UInt8(ascii: "\\") { place += 1 }
                if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return place + 1 }
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return place }
                    depth -= 1
                    if depth == 0 { return place + 1 }
                case UInt8(ascii: ","): if depth == 0 { return place }
                default: break
                }
            }
            place += 1
        }
        return place
    }
}

extension PayloadRenderer {
    /// A start of a probe; without a game it shows that there is none.
    mutating func probePayload(
        for order: PushOrder, _ push: ProbePush, _ arrangement: SlateArrangement, snapshot: SlateSnapshot
    ) -> [UInt8]? {
        let content = SlateContent(arrangement: arrangement, snapshot: snapshot)
        let bare = SlateContent(
            games: [], front: content?.front ?? GameID(unchecked: "none"), spoilerFree: arrangement.spoilerFree,
            asOf: snapshot.asOf.unixSeconds)
        let bareBytes = ContentBytes(bare)
        let finished = content == nil ? gameless(order, bare) : payload(for: order, arrangement, snapshot: snapshot)
        guard let finished, let probe = ProbePayload(finished) else { return nil }
        var bareContent: [UInt8] = []
        bareBytes.append(games: 0, to: &bareContent)
        let bytes = probe.bytes(for: push, bareContent: bareContent)
        return bytes.count <= Self.maxPayloadBytes ? bytes : nil
    }

    /// A start for a slate that holds no game.
    private func gameless(_ order: PushOrder, _ content: SlateContent) -> [UInt8]? {
        guard case .start(let withSound) = order.kind else { return nil }
        var writer = JSONWriter()
        writer.startHead(
            profile: profile, names: AlertNames(front: content.front, home: "no home side", away: "no away side"),
            withSound: withSound)
        writer.raw("\"content-state\":")
        var bytes = writer.bytes
        ContentBytes(content).append(games: 0, to: &bytes)
        writer.reset()
        writer.raw(",")
        writer.tail(PayloadFrame(order))
        return bytes + writer.bytes
    }
}
