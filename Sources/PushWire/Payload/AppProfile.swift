public import CardRules

/// What a payload must know of the iOS app it goes to.
public struct AppProfile: Hashable, Sendable {
    public let id: AppID
    public let bundleID: String
    /// The Swift name of the app's attributes struct, case-sensitive (ref 4.1: `attributes-type`).
    public let slateAttributesType: String
    public let texts: AlertTexts

    public init(id: AppID, bundleID: String, slateAttributesType: String, texts: AlertTexts = AlertTexts()) {
        self.id = id
        self.bundleID = bundleID
        self.slateAttributesType = slateAttributesType
        self.texts = texts
    }

    /// `apns-topic` of every Live Activity push (ref 1.2).
    public var topic: String { bundleID + ".push-type.liveactivity" }
}

/// What the alert of a start says (P1). Templates know `{home}` and `{away}`, the sides of the front: nothing that P2
/// hides can get in.
public struct AlertTexts: Hashable, Sendable {
    public var slateTitle: AlertText
    public var slateBody: AlertText

    public init(
        slateTitle: AlertText = .plain("{away} at {home}"), slateBody: AlertText = .plain("Worth watching now")
    ) {
        self.slateTitle = slateTitle
        self.slateBody = slateBody
    }
}

/// A text of an alert: written here, or looked up by the phone in the app's own strings (ref 4.1).
public enum AlertText: Hashable, Sendable {
    /// A template.
    case plain(String)
    /// `loc-key`, and a template for each of its `loc-args`.
    case localized(key: String, args: [String])

    /// What makes it unfit, for people; `nil` when nothing does. Configuration asks before it is used.
    public var fault: String? {
        switch self {
        case .plain(let template):
            isBlank(template) ? "an alert's text must not be empty" : unknownPlaceholder(in: template)
        case .localized(let key, let args):
            isBlank(key) ? "a loc-key must not be empty" : args.lazy.compactMap(unknownPlaceholder).first
        }
    }
}

/// Fills `{home}` and `{away}` in one pass, so that a team called `{away}` stays what it is. Other braces stay too.
func fill(_ template: String, home: String, away: String) -> String {
    var result = ""
    var rest = template[...]
    while let brace = rest.firstIndex(of: "{") {
        result += rest[..<brace]
        rest = rest[brace...]
        if rest.hasPrefix("{home}") {
            result += home
            rest = rest.dropFirst(6)
        } else if rest.hasPrefix("{away}") {
            result += away
            rest = rest.dropFirst(6)
        } else {
            result += "{"
            rest = rest.dropFirst()
        }
    }
    return result + rest
}

/// Nothing that a phone would show.
func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

private func unknownPlaceholder(in template: String) -> String? {
    fill(template, home: "", away: "").contains("{") ? "only {home} and {away} can stand in an alert's text" : nil
}
