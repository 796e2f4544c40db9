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

/// What the alert of a start says (P1). Those of a slate know `{home}` and `{away}`, the sides of the front: nothing that
/// P2 hides can get in. That of a session knows `{since}`, the time of day when it began (P3); its title is the caller's.
public struct AlertTexts: Hashable, Sendable {
    public var slateTitle: AlertText
    public var slateBody: AlertText
    public var sessionBody: AlertText

    public init(
        slateTitle: AlertText = .plain("{away} at {home}"), slateBody: AlertText = .plain("Worth watching now"),
        sessionBody: AlertText = .plain("Since {since}")
    ) {
        self.slateTitle = slateTitle
        self.slateBody = slateBody
        self.sessionBody = sessionBody
    }
}

/// A text of an alert: written here, or looked up by the phone in the app's own strings (ref 4.1).
public enum AlertText: Hashable, Sendable {
    /// A template.
    case plain(String)
    /// `loc-key`, and a template for each of its `loc-args`.
    case localized(key: String, args: [String])

    /// What makes it unfit for a slate, for people; `nil` when nothing does. Configuration asks before it is used.
    public var fault: String? {
        fault(knowing: ["{home}", "{away}"], "only {home} and {away} can stand in an alert's text")
    }

    /// What makes it unfit for a session; `nil` when nothing does.
    public var sessionFault: String? { fault(knowing: ["{since}"], "only {since} can stand in a session's alert") }

    private func fault(knowing names: [String], _ unknown: String) -> String? {
        let values = names.map { ($0, "") }
        switch self {
        case .plain(let template):
            if isBlank(template) { return "an alert's text must not be empty" }
            return fill(template, values).contains("{") ? unknown : nil
        case .localized(let key, let args):
            if isBlank(key) { return "a loc-key must not be empty" }
            return args.contains { fill($0, values).contains("{") } ? unknown : nil
        }
    }
}

/// Fills placeholders such as `{home}` in one pass, so that a team called `{away}` stays what it is. Other braces stay
/// too.
func fill(_ template: String, _ values: [(name: String, value: String)]) -> String {
    var result = ""
    var rest = template[...]
    while let brace = rest.firstIndex(of: "{") {
        result += rest[..<brace]
        rest = rest[brace...]
        if let (name, value) = values.first(where: { rest.hasPrefix($0.name) }) {
            result += value
            rest = rest.dropFirst(name.count)
        } else {
            result += "{"
            rest = rest.dropFirst()
        }
    }
    return result + rest
}

/// Nothing that a phone would show.
func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }
