public import CardRules

/// Judges one Live Activity push by the rules and by what is known of APNs and iOS. Pure.
///
/// - Parameters:
///   - bytes: a payload, `{"aps":{...}}`; or `{"headers":{...},"payload":{...}}` where its headers are to be judged too.
///   - isSpoilerFree: the phone asked to be told nothing of how a game stands (P2).
///   - tuning: says how long regulation is in each sport (P2).
/// - Returns: in order of the text, at most `PayloadLinter.maximumFindings`; none for a push that is right. Bytes that
///   are no JSON give the one finding that says why, and where.
public func lintPayload(_ bytes: [UInt8], isSpoilerFree: Bool = false, tuning: Tuning = Tuning()) -> [PayloadFinding] {
    var linter = PayloadLinter(bytes: bytes, isSpoilerFree: isSpoilerFree, tuning: tuning)
    linter.run()
    return linter.placed
}

struct PayloadLinter {
    /// More than anybody reads.
    static let maximumFindings = 100
    /// Ref R8: what APNs takes.
    static let maximumPayloadBytes = 4096
    /// Nobody meant such a text to be a push: its size is all that is said of it.
    static let maximumTextBytes = 1 << 20
    /// Times below are no moment at which there was a Live Activity, but seconds since 2001 or made up.
    static let earliestSeconds: Int64 = 1_600_000_000
    /// Times from here on are milliseconds: as seconds the year 5138.
    static let milliseconds: Int64 = 100_000_000_000

    enum Event: String { case start, update, end }

    let bytes: [UInt8]
    let isSpoilerFree: Bool
    let tuning: Tuning
    var event: Event?
    var timestamp: Int64?
    private var found: [(kind: PayloadFinding.Kind, offset: Int, pointer: String, what: String)] = []

    init(bytes: [UInt8], isSpoilerFree: Bool, tuning: Tuning) {
        self.bytes = bytes
        self.isSpoilerFree = isSpoilerFree
        self.tuning = tuning
    }

    /// In order of the text; of one place in the order found.
    var placed: [PayloadFinding] {
        found.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map {
            let (line, column) = JSONFault(.unexpectedEnd, at: $0.element.offset).place(in: bytes.span)
            return PayloadFinding(
                kind: $0.element.kind, line: line, column: column, pointer: $0.element.pointer, what: $0.element.what)
        }
    }

    mutating func add(_ kind: PayloadFinding.Kind, at offset: Int, _ pointer: String, _ what: String) {
        guard found.count < Self.maximumFindings else { return }
        found.append((kind, offset, pointer, what))
    }

    mutating func run() {
        guard bytes.count <= Self.maximumTextBytes else {
            return add(.tooLarge, at: 0, "", "\(bytes.count) bytes, and \(Self.maximumPayloadBytes) are allowed")
        }
        guard bytes.contains(where: { !isSpace($0) }) else { return add(.empty, at: 0, "", "nothing in it") }
        let root: PlacedValue
        do throws(JSONFault) {
            root = try PlacedValue.read(bytes.span)
        } catch {
            return add(kind(of: error), at: error.offset, "", error.description)
        }
        guard root.members != nil else { return add(.notAnObject, at: root.offset, "", "a payload is an object") }
        guard root["aps"] == nil, root["headers"] != nil || root["payload"] != nil else {
            return payload(root, "")
        }
        if let payload = root["payload"] {
            if payload.value.members == nil {
                add(.notAnObject, at: payload.value.offset, "/payload", "a payload is an object")
            } else {
                self.payload(payload.value, "/payload")
            }
        } else {
            add(.noAps, at: root.offset, "", "headers, and no payload")
        }
        if let headers = root["headers"] { self.headers(headers.value) }
    }

    private func kind(of fault: JSONFault) -> PayloadFinding.Kind {
        switch fault.reason {
        case .invalidUTF8: return .notUTF8
        case .duplicateKey: return .duplicateKey
        case .tooDeep: return .tooDeep
        case .numberOutOfRange: return .numberOutOfRange
        case .unexpectedByte: return isTrailing(fault.offset) ? .trailingText : .notJSON
        default: return .notJSON
        }
    }

    /// What stands before is a whole text.
    private func isTrailing(_ offset: Int) -> Bool {
        let before = Array(bytes[..<min(offset, bytes.count)])
        return (try? JSONScanner.value(in: before.span)) != nil
    }

    private mutating func payload(_ root: PlacedValue, _ pointer: String) {
        let size = root.end - root.offset
        if size > Self.maximumPayloadBytes {
            add(.tooLarge, at: root.offset, pointer, "\(size) bytes, and \(Self.maximumPayloadBytes) are allowed")
        }
        for member in root.members ?? [] where Self.apsKeys.contains(member.key) {
            add(
                .misplacedKey, at: member.offset, "\(pointer)/\(member.key)",
                "\(member.key) stands beside aps and belongs inside")
        }
        guard let aps = root["aps"] else { return add(.noAps, at: root.offset, pointer, "no aps") }
        guard aps.value.members != nil else {
            return add(.apsNotAnObject, at: aps.value.offset, "\(pointer)/aps", "aps is no object")
        }
        self.aps(aps.value, "\(pointer)/aps")
    }
}

func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

/// One step of a JSON pointer.
func pointerStep(_ key: String) -> String { JSONPointer([key]).description }
