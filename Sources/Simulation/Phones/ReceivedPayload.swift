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
        guard let aps = JSONSlices(body)?.object("aps") else { return nil }
        event = aps.plainText("event")
        timestamp = aps.integer("timestamp")
        content = aps["content-state"]
        attributesType = aps.plainText("attributes-type")
        hasAttributes = aps.object("attributes") != nil
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

/// Decodes the content of slate cards the way an app's default decoder does (ref P16), once for each distinct content.
///
/// Not safe for use from several threads at once. At its bound everything is forgotten and decoded anew.
struct ContentDecoder: Sendable {
    private var known: [ArraySlice<UInt8>: SlateContent?] = [:]
    private static let kept = 512

    /// - Returns: `nil` when a required key is missing, a type is wrong, or a value is null where it is not optional.
    mutating func decode(_ bytes: ArraySlice<UInt8>) -> SlateContent? {
        if let content = known[bytes] { return content }
        let content = try? JSONDecoder().decode(SlateContent.self, from: Data(bytes))
        if known.count >= Self.kept { known.removeAll(keepingCapacity: true) }
        known[bytes] = .some(content)
        return content
    }
}
