public import CardRules

/// The body of `PUT /v1/devices/{device}/cards/{key}` (api.md): an update token with its activity.
public struct CardBody: Hashable, Sendable {
    public var activity: ActivityID
    public var address: PushAddress
    public var startedBy: Card.StartedBy
    /// By the phone's clock; `nil` where the app does not say.
    public var began: WallTime?

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        activity = try fields.needed("activity", expected: identifierExpected) {
            $0.text.flatMap { ActivityID($0) }
        }
        let gateway = try fields.needed("gateway", expected: gatewayExpected) {
            $0.text.flatMap { Gateway(rawValue: $0) }
        }
        address = try fields.needed("updateToken", expected: "an even number of hex digits, 2 to 400") {
            $0.text.flatMap { PushAddress(hex: $0, gateway: gateway) }
        }
        startedBy = try fields.needed("startedBy", expected: "\"push\" or \"app\"") {
            $0.text.flatMap { Card.StartedBy(rawValue: $0) }
        }
        if case .value(let time) = try fields.take(
            "began", expected: "\(unixSecondsExpected), or null", { $0.wallTime })
        {
            began = time
        }
        try fields.end()
    }

    /// - Parameter now: no activity began later.
    public func event(_ key: CardKey, at now: WallTime) -> LaneEvent {
        .cardToken(
            CardToken(
                key: key, activity: activity, address: address, startedBy: startedBy, began: began.map { min($0, now) })
        )
    }
}

/// The body of `POST /v1/devices/{device}/cards/{key}/reports`: what became of a card on the phone.
public struct ReportBody: Hashable, Sendable {
    public var kind: CardReport.Kind
    public var activity: ActivityID
    /// By the phone's clock.
    public var at: WallTime

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        let kinds = CardReport.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        kind = try fields.needed("report", expected: "one of \(kinds)") {
            $0.text.flatMap { CardReport.Kind(rawValue: $0) }
        }
        activity = try fields.needed("activity", expected: identifierExpected) {
            $0.text.flatMap { ActivityID($0) }
        }
        at = try fields.needed("at", expected: unixSecondsExpected) { $0.wallTime }
        try fields.end()
    }

    public func event(_ key: CardKey) -> LaneEvent {
        .reported(CardReport(key: key, kind: kind, activity: activity, at: at))
    }
}
