internal import CardRules

// Cards and ledgers: parts of a record that also travel in a handover.

extension ByteWriter {
    mutating func card(_ card: Card) {
        id(card.key)
        switch card.state {
        case .starting: byte(0)
        case .believed: byte(1)
        case .confirmed: byte(2)
        case .ending: byte(3)
        case .replacing: byte(4)
        }
        bool(card.startedBy == .app)
        time(card.claimedAt)
        time(card.ageBegan)
        optional(card.activity) { $0.id($1) }
        optional(card.updateAddress) { $0.address($1) }
        time(card.tokenReportedAt)
        optional(card.front) { $0.front($1) }
        ids(card.finalGames)
        bool(card.isNeverAdopted)
    }

    private mutating func front(_ front: Front) {
        id(front.game)
        time(front.since)
        bool(front.wonByLift)
        list(front.bench) {
            $0.id($1.game)
            $0.time($1.at)
        }
        list(front.changes) { $0.time($1) }
    }

    mutating func ledger(_ ledger: NightLedger) {
        time(ledger.from)
        time(ledger.to)
        int(ledger.claims)
        list(ledger.keys) {
            $0.id($1.key)
            $0.int($1.sent)
            $0.int($1.accepted)
            $0.int($1.acknowledged)
            $0.time($1.lastAcceptedAt)
            $0.bool($1.isDismissed)
            $0.int($1.reissued)
        }
        list(ledger.withheld) {
            $0.text($1.rule.rawValue)
            $0.int($1.count)
        }
        ids(ledger.joined)
        ids(ledger.handedOver)
        int(ledger.unprovenNights)
        bool(ledger.hasSignOfLife)
        bool(ledger.awaitsToken)
        ids(ledger.gone)
    }
}

extension ByteReader {
    mutating func card(_ field: String) throws(CodecFault) -> Card {
        let key: CardKey = try id("\(field).key")
        let state = try state("\(field).state")
        var card = Card(key: key, state: state, startedBy: try bool("\(field).startedBy") ? .app : .push)
        card.claimedAt = try maybeTime("\(field).claimedAt")
        card.ageBegan = try maybeTime("\(field).ageBegan")
        card.activity = try maybeID("\(field).activity")
        card.updateAddress = try optional(field) { reader throws(CodecFault) in
            try reader.address("\(field).updateAddress")
        }
        card.tokenReportedAt = try maybeTime("\(field).tokenReportedAt")
        card.front = try optional(field) { reader throws(CodecFault) in try reader.front("\(field).front") }
        card.finalGames = try ids("\(field).finalGames")
        card.isNeverAdopted = try bool("\(field).isNeverAdopted")
        return card
    }

    private mutating func state(_ field: String) throws(CodecFault) -> Card.State {
        switch try byte(field) {
        case 0: return .starting
        case 1: return .believed
        case 2: return .confirmed
        case 3: return .ending
        case 4: return .replacing
        default: throw fault(field)
        }
    }

    private mutating func front(_ field: String) throws(CodecFault) -> Front {
        let game: GameID = try id(field)
        let since = try time(field)
        let won = try bool(field)
        let bench = try list(field) { reader throws(CodecFault) in
            let game: GameID = try reader.id(field)
            return Front.Benched(game: game, at: try reader.time(field))
        }
        let changes = try list(field) { reader throws(CodecFault) in try reader.time(field) }
        return Front(game: game, since: since, wonByLift: won, bench: bench, changes: changes)
    }

    mutating func ledger(_ field: String) throws(CodecFault) -> NightLedger {
        let from = try time("\(field).from")
        var ledger = NightLedger(from: from, to: try time("\(field).to"))
        ledger.claims = try int("\(field).claims")
        ledger.keys = try list("\(field).keys") { reader throws(CodecFault) in
            var key = NightLedger.KeyLedger(key: try reader.id("\(field).keys"))
            key.sent = try reader.int("\(field).keys")
            key.accepted = try reader.int("\(field).keys")
            key.acknowledged = try reader.int("\(field).keys")
            key.lastAcceptedAt = try reader.maybeTime("\(field).keys")
            key.isDismissed = try reader.bool("\(field).keys")
            if reader.version >= 2 { key.reissued = try reader.int("\(field).keys") }
            return key
        }
        ledger.withheld = try list("\(field).withheld") { reader throws(CodecFault) in
            let rule: Rule = try reader.word("\(field).withheld")
            return NightLedger.Withheld(rule: rule, count: try reader.int("\(field).withheld"))
        }
        ledger.joined = try ids("\(field).joined")
        ledger.handedOver = try ids("\(field).handedOver")
        ledger.unprovenNights = try int("\(field).unprovenNights")
        ledger.hasSignOfLife = try bool("\(field).hasSignOfLife")
        if version >= 3 { ledger.awaitsToken = try bool("\(field).awaitsToken") }
        if version >= 4 { ledger.gone = try ids("\(field).gone") }
        return ledger
    }
}
