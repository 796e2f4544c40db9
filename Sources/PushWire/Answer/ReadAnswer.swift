public import CardRules

/// What APNs' answer to a push means. Source: ref section 3 (Apple, "Handling notification responses from APNs").
///
/// Lenient: the status decides; a body that is empty, cut or no JSON costs only the reason's name, which is then
/// `HTTP` and the status. Any 2xx is an acceptance: to take one for a refusal would start a second card.
/// - Parameters:
///   - status: HTTP status.
///   - body: as it came; only its first 4,096 bytes are read.
public func verdict(status: Int, body: [UInt8]) -> Verdict {
    guard !(200..<300).contains(status) else { return .accepted }
    var scanner = AnswerScanner(body)
    scanner.scan()
    let deadSince = status == 410 ? scanner.timestamp.map { WallTime(milliseconds: $0) } : nil
    let reason = scanner.reason.isEmpty ? .unlisted("HTTP \(status)") : RefusalReason(scanner.reason)
    return .refused(Refusal(reason, status: status, deadSince: deadSince))
}

/// Finds two members of the outer object of a small JSON text and forgives everything else.
private struct AnswerScanner {
    private let bytes: ArraySlice<UInt8>
    private var place: Int
    /// Printable ASCII, at most 64 characters: it goes into logs and metrics. Empty when there is none.
    var reason = ""
    /// Milliseconds (ref R2).
    var timestamp: Int64?

    init(_ body: [UInt8]) {
        bytes = body.prefix(4096)
        place = bytes.startIndex
    }

    mutating func scan() {
        var depth = 0
        var key: [UInt8] = []
        while place < bytes.endIndex {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                key = []
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                place += 1
            case UInt8(ascii: "\""):
                let text = string()
                if key.isEmpty {
                    key = isBeforeColon() ? text : []
                } else {
                    if depth == 1 { take(text, for: key) }
                    key = []
                }
            case UInt8(ascii: ","):
                key = []
                place += 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let text = number()
                if depth == 1 { take(text, for: key) }
                key = []
            default: place += 1
            }
        }
    }

    private mutating func take(_ value: [UInt8], for key: [UInt8]) {
        if key.elementsEqual("reason".utf8) {
            let word = value.filter { (0x20..<0x7f).contains($0) }.prefix(64)
            reason = String(decoding: word, as: UTF8.self)
        } else if key.elementsEqual("timestamp".utf8) {
            let text = String(decoding: value, as: UTF8.self)
            timestamp = Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
        }
    }

    /// From an opening quote to behind the closing one, escapes resolved as far as a reason could need them.
    private mutating func string() -> [UInt8] {
        var text: [UInt8] = []
        place += 1
        while place < bytes.endIndex, bytes[place] != UInt8(ascii: "\"") {
            if bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.endIndex { place += 1 }
            text.append(bytes[place])
            place += 1
        }
        place += 1
        return text
    }

    private mutating func number() -> [UInt8] {
        let start = place
        while place < bytes.endIndex, isNumberByte(bytes[place]) { place += 1 }
        return Array(bytes[start..<place])
    }

    private func isBeforeColon() -> Bool {
        let next = bytes[min(place, bytes.endIndex)...].first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return next == UInt8(ascii: ":")
    }
}

private func isNumberByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
    default: false
    }
}
