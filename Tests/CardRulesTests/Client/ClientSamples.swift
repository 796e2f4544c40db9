import CardRules

let tenPM = WallTime(seconds: 1_794_693_600)

/// A token of the usual length, its bytes all alike.
func address(_ byte: UInt8, _ gateway: Gateway = .production) -> PushAddress {
    PushAddress(token: [UInt8](repeating: byte, count: 80), gateway: gateway)
}

func activity(
    _ id: String, _ state: ClientActivity.State = .active, key: String = "slate", token: UInt8? = nil,
    began: WallTime? = nil, by startedBy: Card.StartedBy = .push
) -> ClientActivity {
    ClientActivity(
        id: ActivityID(unchecked: id), key: CardKey(unchecked: key), state: state,
        updateAddress: token.map { address($0) }, began: began, startedBy: startedBy)
}

extension [ClientAction] {
    var ends: [String] { compactMap { if case .end(let id) = $0 { id.text } else { nil } } }
    var adopted: [String] { compactMap { if case .adopt(let id) = $0 { id.text } else { nil } } }
    var kept: [String] { compactMap { if case .keep(let id) = $0 { id.text } else { nil } } }
    var reports: [ClientReport] { compactMap { if case .report(let report) = $0 { report } else { nil } } }
    /// `a1 ended`, of the reports on what became of a card.
    var words: [String] {
        reports.compactMap {
            if case .card(let card) = $0 { "\(card.activity.text) \(card.kind.rawValue)" } else { nil }
        }
    }
    var tokens: [CardToken] { reports.compactMap { if case .cardToken(let token) = $0 { token } else { nil } } }
}

extension ClientMemory {
    /// A look at which everything that is to be told arrives.
    mutating func look(
        _ activities: [ClientActivity], isForeground: Bool = false, at now: WallTime = tenPM
    ) -> [ClientAction] {
        let actions = recover(activities, isForeground: isForeground, at: now)
        for report in actions.reports { delivered(report) }
        return actions
    }
}
