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

    /// Of a session's push: it has no score.
    init(kind: PushOrder.Kind, timestamp: Int64) {
        self.timestamp = timestamp
        relevance = nil
        self.kind = kind
    }
}

/// The sides of the front, for the alert of a start.
struct AlertNames {
    let front: GameID
    let home: String
    let away: String

    var values: [(name: String, value: String)] { [("{home}", home), ("{away}", away)] }
}

extension JSONWriter {
    /// P1: every start payload begins here. The alert always stands, with a title and a body that show something;
    /// `attributes` is empty because a slate has none (ref 4.1). A `stale-date` has no way in.
    mutating func startHead(profile: AppProfile, names: AlertNames, withSound: Bool) {
        raw("{\"aps\":{\"alert\":{\"body\":")
        alertText(profile.texts.slateBody, names.values, else: names.front.text)
        if withSound { raw(",\"sound\":\"default\"") }
        raw(",\"title\":")
        alertText(profile.texts.slateTitle, names.values, else: names.front.text)
        raw("},\"attributes\":{},\"attributes-type\":")
        string(profile.slateAttributesType)
        raw(",")
    }

    /// P1, P3: the start of a session. The caller's own alert serves the first start, and a successor only if it tells
    /// when the session began.
    mutating func startHead(profile: AppProfile, show: SessionShow, withSound: Bool) {
        let terms = show.session.terms
        let since = [("{since}", show.since)]
        let own = terms.alert.flatMap { !show.isSuccessor || $0.tellsSince ? $0 : nil }
        raw("{\"aps\":{\"alert\":{\"body\":")
        alertText(own.map { .plain($0.body) } ?? profile.texts.sessionBody, since, else: show.since)
        if withSound { raw(",\"sound\":\"default\"") }
        raw(",\"title\":")
        alertText(.plain(own?.title ?? terms.title), since, else: show.session.id.text)
        raw("},\"attributes\":")
        value(terms.attributes)
        raw(",\"attributes-type\":")
        string(terms.attributesType)
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

    /// A text that would be blank, for want of names, becomes `fallback`: a start without a text is lost (P1).
    private mutating func alertText(
        _ text: AlertText, _ values: [(name: String, value: String)], else fallback: String
    ) {
        switch text {
        case .plain(let template):
            let filled = fill(template, values)
            string(isBlank(filled) ? fallback : filled)
        case .localized(let key, let args):
            raw("{\"loc-args\":[")
            for (index, arg) in args.enumerated() {
                if index > 0 { raw(",") }
                string(fill(arg, values))
            }
            raw("],\"loc-key\":")
            string(key)
            raw("}")
        }
    }
}
