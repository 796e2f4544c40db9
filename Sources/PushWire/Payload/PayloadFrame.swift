internal import CardRules

/// All that two payloads of one content can differ in.
struct PayloadFrame: Hashable {
    let timestamp: Int64
    let relevance: Double?
    let kind: PushOrder.Kind

    init(_ order: PushOrder) {
        timestamp = order.timestamp
        relevance = order.relevance.flatMap { $0.isFinite ? $0 : nil }
        kind = order.kind
    }
}

/// The sides of the front, for the alert of a start.
struct AlertNames {
    let front: GameID
    let home: String
    let away: String
}

extension JSONWriter {
    /// P1: every start payload begins here. The alert always stands, with a title and a body that show something;
    /// `attributes` is empty because a slate has none (ref 4.1). A `stale-date` has no way in.
    mutating func startHead(profile: AppProfile, names: AlertNames, withSound: Bool) {
        raw("{\"aps\":{\"alert\":{\"body\":")
        alertText(profile.texts.slateBody, names)
        if withSound { raw(",\"sound\":\"default\"") }
        raw(",\"title\":")
        alertText(profile.texts.slateTitle, names)
        raw("},\"attributes\":{},\"attributes-type\":")
        string(profile.slateAttributesType)
        raw(",")
    }

    /// What follows the content state, in order of the names.
    mutating func tail(_ frame: PayloadFrame) {
        switch frame.kind {
        case .start: raw("\"event\":\"start\",\"input-push-token\":1")
        case .update: raw("\"event\":\"update\"")
        case .end(let dismissalDate):
            raw("\"dismissal-date\":")
            integer(dismissalDate)
            raw(",\"event\":\"end\"")
        }
        if let relevance = frame.relevance {
            raw(",\"relevance-score\":")
            number(relevance)
        }
        if case .update(let staleDate?) = frame.kind {
            raw(",\"stale-date\":")
            integer(staleDate)
        }
        raw(",\"timestamp\":")
        integer(frame.timestamp)
        raw("}}")
    }

    /// A text that would be blank, for want of names, becomes the game's id: a start without a text is lost (P1).
    private mutating func alertText(_ text: AlertText, _ names: AlertNames) {
        switch text {
        case .plain(let template):
            let filled = fill(template, home: names.home, away: names.away)
            string(isBlank(filled) ? names.front.text : filled)
        case .localized(let key, let args):
            raw("{\"loc-args\":[")
            for (index, arg) in args.enumerated() {
                if index > 0 { raw(",") }
                string(fill(arg, home: names.home, away: names.away))
            }
            raw("],\"loc-key\":")
            string(key)
            raw("}")
        }
    }
}
