/// What a line of liveactivitiesd or of an app says (ref device-logs.md, F7), found by its text; the frame around it is
/// each tool's own and is not looked at. Texts are cut short where a tool may have cut the line.
enum DeviceLogEvent: Hashable, Sendable, CaseIterable {
    case received
    case budgetReduced, budgetExceeded, automation
    case noAlert, noPayload, wrongSource, noAttributes, twoInputs, wrongEvent, noSubscription
    case notCreated, notUpdated, notDecoded
    case noInput
    case started, shown, launched, notLaunched
    case updated, chatty
    case tokenFetched, tokenInvalidated, unsubscribed

    /// Each with the bytes that give it away; the first that a line holds counts.
    var markers: [String] {
        switch self {
        case .received: ["Received pushToStart notification"]
        case .budgetReduced: ["Reduced budget for"]
        case .budgetExceeded: ["Push-to-start budget exceeded", "budget exceeded for"]
        case .automation: ["Automation flag set, not reducing budget"]
        case .noAlert: ["Received start without an alert"]
        case .noPayload: ["Received start without a payload"]
        case .wrongSource: ["unsupported content source", "unsupported push type"]
        case .noAttributes: ["Incoming message does not contain usable"]
        case .twoInputs: ["Incoming message contains two forms of push input"]
        case .wrongEvent: ["Unsupported push notification event type"]
        case .noSubscription: ["Subscription does not exist"]
        case .notCreated: ["Could not create a new activity from push"]
        case .notUpdated: ["Could not create an update payload from push"]
        case .notDecoded: ["Unable to decode content state"]
        case .noInput: ["inputs: []"]
        case .started: ["Activity started", "Activity did start"]
        case .shown: ["CoverSheet: Inserting supplementary item"]
        case .launched: ["Launched process for reason"]
        case .notLaunched: ["Did not launch process for reason"]
        case .updated: ["Activity updated", "Updating content for activity"]
        case .chatty: ["Activity continues to be chatty"]
        case .tokenFetched: ["Fetching push token for subscription"]
        case .tokenInvalidated: ["Invalidating token"]
        case .unsubscribed: ["Unsubscribing from push-to-start"]
        }
    }

    /// For the table.
    var words: String {
        switch self {
        case .received: "received"
        case .budgetReduced: "budget reduced"
        case .budgetExceeded: "budget exceeded: not started"
        case .automation: "test device: budget not reduced"
        case .noAlert: "refused: no alert"
        case .noPayload: "refused: no payload"
        case .wrongSource: "refused: content source or push type"
        case .noAttributes: "refused: no usable attributes"
        case .twoInputs: "refused: two forms of push input"
        case .wrongEvent: "refused: event type"
        case .noSubscription: "no such activity or token"
        case .notCreated: "activity not created"
        case .notUpdated: "update not applied"
        case .notDecoded: "content state not decoded"
        case .noInput: "no push input: no update token"
        case .started: "started"
        case .shown: "on the Lock Screen"
        case .launched: "app woken"
        case .notLaunched: "app not woken"
        case .updated: "updated"
        case .chatty: "too many updates"
        case .tokenFetched: "token fetched"
        case .tokenInvalidated: "token invalidated"
        case .unsubscribed: "push-to-start given up"
        }
    }

    /// It belongs to a start: such lines tell which clock a log without a zone goes by.
    var isOfStart: Bool {
        switch self {
        case .updated, .chatty, .tokenInvalidated, .unsubscribed, .noSubscription, .notUpdated, .notDecoded: false
        default: true
        }
    }
}

/// One line that says something.
struct DeviceLogEntry: Hashable, Sendable {
    /// From 1.
    let line: Int
    let time: DeviceLogTime?
    let event: DeviceLogEvent
    /// From the text that was found to the line's end; as it stood, not tamed.
    let text: String
    /// The app that it names; `nil` where it names none, or a tool has put `<private>` there.
    let bundle: String?
    /// What is left of the budget; may be below zero.
    let budget: Int?
    /// The line ends inside the bundle's name: it may have been longer.
    let isCut: Bool
    /// How often the same line stood there, one behind the other.
    var times = 1

    /// `false`: it names another app.
    func concerns(_ bundle: String?) -> Bool {
        guard let bundle, let own = self.bundle else { return true }
        return own == bundle || isCut && bundle.hasPrefix(own)
    }

    var words: String {
        var words = event == .budgetReduced ? budget.map { "budget \($0) left" } ?? event.words : event.words
        if times > 1 { words += " (\(times) times)" }
        return words
    }
}
