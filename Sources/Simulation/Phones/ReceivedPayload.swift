internal import CardRules
internal import Foundation

/// The `aps` of a Live Activity push as iOS reads it (ref 4.1). What is missing or of a wrong type is `nil`.
struct ReceivedPayload: Sendable {
    let event: String?
    /// Unix seconds.
    let timestamp: Int64?
    /// The bytes of `content-state`.
    let content: ArraySlice<UInt8>?
    let attributesType: String?
    let hasAttributes: Bool
    /// The card's key, where the attributes are those of a session.
    let session: CardKey?
    let alert: Alert?
    let staleDate: Int64?
    let dismissalDate: Int64?
    let relevance: Double?
    let wantsToken: Bool
    let channel: String?
    /// A silent background push (S12): `content-available` is set.
    let isBackground: Bool

    struct Alert: Hashable, Sendable {
        /// Empty where it is absent; of a localised text the key.
        let title: String
        let body: String
        let hasSound: Bool
    }

    /// `nil` when the body is no JSON object or has no `aps` object.
    init?(_ body: [UInt8]) {
        guard let aps = JSONSlices(body, inside: "aps") else { return nil }
        event = aps.plainText("event")
        timestamp = aps.integer("timestamp")
        content = aps["content-state"]
        attributesType = aps.plainText("attributes-type")
        let attributes = aps.object("attributes")
        hasAttributes = attributes != nil
        session = attributes?.plainText("session").flatMap { CardKey($0) }
        staleDate = aps.integer("stale-date")
        dismissalDate = aps.integer("dismissal-date")
        relevance = aps.number("relevance-score")
        wantsToken = aps.integer("input-push-token") == 1
        channel = aps.plainText("input-push-channel")
        isBackground = aps["content-available"] != nil
        alert = aps.object("alert").map {
            Alert(title: text(of: "title", in: $0), body: text(of: "body", in: $0), hasSound: $0["sound"] != nil)
        }
    }
}

/// A title or body: a string, or an object with `loc-key` (ref 4.1).
private func text(of key: String, in alert: JSONSlices) -> String {
    if let plain = alert.plainText(key) { return plain }
    guard let value = alert[key] else { return "" }
    if let localised = alert.object(key) { return localised.plainText("loc-key") ?? "" }
    return (try? JSONDecoder().decode(String.self, from: Data(value))) ?? ""
}

extension ReceivedPayload {
    /// The content state of a session's card: any object that the app can decode.
    var sessionContent: [UInt8]? {
        guard let content, JSONSlices(content) != nil else { return nil }
        return Array(content)
    }
}

extension SlateContent {
    /// What stands in for the games on a card that has none.
    static let none = SlateContent(games: [], front: GameID(unchecked: "-"), spoilerFree: false, asOf: 0)
}

/// A payload with its content decoded: what is read of a push, once, for the phone and for the judge.
struct ReadPush: Sendable {
    /// `nil` for a body that is no JSON or has no `aps`.
    let payload: ReceivedPayload?
    /// `nil` where there is none, or it does not decode (ref P16).
    let content: SlateContent?
}

/// Reads pushes the way an app's default decoder does (ref P16), and decodes each distinct game of a content once: cards
/// differ in their games and their order, but the games are the same for everyone.
///
/// Not for several threads at once. At its bound everything is forgotten and decoded anew.
struct PushReader: Sendable {
    private var games: [ContentBytes: SlateContent.Game?] = [:]
    private static let kept = 1024

    /// Content is decoded where there is one: its required keys must exist, types must fit, null only where optional.
    mutating func read(_ push: ReceivedPush) -> ReadPush {
        guard let payload = ReceivedPayload(push.payload) else { return ReadPush(payload: nil, content: nil) }
        return ReadPush(payload: payload, content: payload.content.flatMap { decode($0) })
    }

    private mutating func decode(_ bytes: ArraySlice<UInt8>) -> SlateContent? {
        guard let slices = JSONSlices(bytes), let front = slices.plainText("front").flatMap(GameID.init),
            let listed = slices.elements("games"),
            let asOf = slices.integer("asOf"), let spoilerFree = slices.bool("spoilerFree")
        else { return try? JSONDecoder().decode(SlateContent.self, from: Data(bytes)) }
        var games: [SlateContent.Game] = []
        games.reserveCapacity(listed.count)
        for one in listed {
            guard let game = game(one) else { return nil }
            games.append(game)
        }
        return SlateContent(games: games, front: front, spoilerFree: spoilerFree, asOf: asOf)
    }

    private mutating func game(_ bytes: ArraySlice<UInt8>) -> SlateContent.Game? {
        let key = ContentBytes(bytes)
        if let game = games[key] { return game }
        let game = try? JSONDecoder().decode(SlateContent.Game.self, from: Data(bytes))
        if games.count >= Self.kept { games.removeAll(keepingCapacity: true) }
        games[key] = .some(game)
        return game
    }
}

/// Bytes with their hash, eight at a time: hashing them one by one costs more than all else that a push needs.
private struct ContentBytes: Hashable, Sendable {
    private let bytes: ArraySlice<UInt8>
    private let digest: UInt64

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        digest = bytes.withUnsafeBytes { raw in
            var digest: UInt64 = 0xcbf2_9ce4_8422_2325
            var at = 0
            while at + 8 <= raw.count {
                digest = (digest ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
                digest ^= digest >> 29
                at += 8
            }
            while at < raw.count {
                digest = (digest ^ UInt64(raw[at])) &* 0x100_0000_01b3
                at += 1
            }
            return digest
        }
    }

    static func == (left: ContentBytes, right: ContentBytes) -> Bool {
        left.digest == right.digest && left.bytes.elementsEqual(right.bytes)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
