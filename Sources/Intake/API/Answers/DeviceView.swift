internal import CardRules
internal import PushWire
internal import TLS

/// What `GET /v1/devices/{device}` tells (api.md). No token: its fingerprint.
struct DeviceView {
    let state: LaneState
    let slate: SlateSnapshot
    let tuning: Tuning
    let now: WallTime
    /// The rule that decided last about each card key.
    let why: [CardKey: TimelineEntry]

    private var kept: LaneRecord { state.kept }

    var needsToken: Bool { state.needsToken(tuning) }

    func write(_ json: inout JSONBuilder) {
        json.member("device", kept.device.text)
        json.member("app", kept.app.text)
        json.member("user", kept.settings.user)
        json.member("superseded", state.supersededBy != nil)
        json.member("pushToStart", kept.pushToStart) { json, held in
            json.member("token", held.address.map { fingerprint(of: $0.token) })
            json.member("gateway", held.address?.gateway.rawValue)
            json.member("reportedAt", held.reportedAt)
            json.member("noneReportedAt", held.noneReportedAt)
        }
        json.member("needsToken", needsToken)
        json.object("night") {
            $0.member("from", kept.ledger.from)
            $0.member("to", kept.ledger.to)
        }
        json.object("ledger", ledger)
        json.member("selection", kept.selection) { json, selection in
            json.array("games", selection.games) { $0.value($1.text) }
            json.member("pinned", selection.pinned?.text)
            json.array("muted", selection.muted) { $0.value($1.text) }
            json.member("syncedAt", selection.syncedAt)
            json.member("arrivedAt", selection.arrivedAt)
        }
        json.array("cards", kept.cards) { json, card in json.object { self.card(card, &$0) } }
        json.object("why") { json in
            for (key, entry) in why.sorted(by: { $0.key < $1.key }) {
                json.object(key.text) {
                    $0.member("rule", entry.rule?.rawValue)
                    $0.member("detail", entry.detail)
                    $0.member("changesWhen", entry.changesWhen)
                }
            }
        }
        json.array("deadlines", state.deadlines(at: now, tuning: tuning)) { json, deadline in
            json.object {
                $0.member("at", deadline.at)
                $0.member("kind", deadline.kind.rawValue)
                $0.member("key", deadline.key?.text)
            }
        }
    }

    private func ledger(_ json: inout JSONBuilder) {
        let keys = kept.ledger.keys
        json.member("sent", kept.ledger.spent)
        json.member("accepted", keys.reduce(0) { $0 + $1.accepted })
        json.member("acknowledged", keys.reduce(0) { $0 + $1.acknowledged })
        json.object("withheld") { json in
            for withheld in kept.ledger.withheld.sorted(by: { $0.rule.rawValue < $1.rule.rawValue }) {
                json.member(withheld.rule.rawValue, withheld.count)
            }
        }
    }

    private func card(_ card: Card, _ json: inout JSONBuilder) {
        let plan = state.plan(of: card.key)
        json.member("key", card.key.text)
        json.member("programme", card.programme.rawValue)
        json.member("state", card.state.word)
        json.member("activity", card.activity?.text)
        json.member("ageBegan", card.ageBegan)
        json.member("reissueAt", card.state == .ending ? nil : plan?.reissueAt)
        json.member("limitAt", plan?.limitAt ?? card.ageBegan?.advanced(bySeconds: tuning.life.limitSeconds))
        json.member("front", card.key == .slate ? card.front?.game.text : nil)
        json.member("content", rawJSON: content(of: card))
        json.member("urgentLeft", state.urgentLeft(of: card.key, at: now, tuning: tuning))
    }

    private func content(of card: Card) -> [UInt8]? {
        switch state.content(of: card.key, tuning: tuning) {
        case .slate(let arrangement):
            return SlateContent(arrangement: arrangement, snapshot: slate).map { ContentBytes($0).full }
        case .session(let show):
            var writer = JSONWriter()
            writer.value(show.session.terms.content)
            return writer.bytes
        case .nothing, nil: return nil
        }
    }
}

/// The first 8 hex digits of the SHA-256 of a token's lower-case hex text (api.md).
func fingerprint(of token: [UInt8]) -> String { String(hexText(sha256(Array(hexText(token).utf8))).prefix(8)) }

extension Card.State {
    /// As section 1 of the rules has it.
    fileprivate var word: String {
        switch self {
        case .starting: "starting"
        case .believed: "believed"
        case .confirmed: "confirmed"
        case .replacing: "replacing"
        case .ending: "ending"
        }
    }
}
