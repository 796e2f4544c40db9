public import CardRules

/// A lane's record as versioned bytes: the store's own form, which nothing but this file and its neighbours reads.
///
/// A field that joins goes to the end of its part under a new version; older versions stay readable.
/// Version 2 added sessions, successors and what reissues spent; version 3 probes, and that a token is asked for (S14);
/// version 4 the activities of which the app may still say that their owner dismissed them (L5).
public enum RecordCodec {
    /// The version that is written.
    public static let version: UInt8 = 4

    public static func encode(_ record: LaneRecord) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        writer.record(record)
        return writer.bytes
    }

    /// - Throws: `CodecFault`, naming the field; for any bytes whatever, and never anything worse.
    public static func decode(_ bytes: [UInt8]) throws(CodecFault) -> LaneRecord {
        var reader = ByteReader(bytes)
        let found = try reader.byte("version")
        guard (1...version).contains(found) else { throw reader.fault("version", .version(Int(found))) }
        reader.version = found
        let record = try reader.record()
        try reader.finish("record")
        return record
    }
}

extension ByteWriter {
    fileprivate mutating func record(_ record: LaneRecord) {
        id(record.device)
        id(record.app)
        settings(record.settings)
        optional(record.pushToStart) { $0.pushToStart($1) }
        optional(record.selection) { $0.selection($1) }
        ledger(record.ledger)
        ids(record.members)
        optional(record.deferred) { $0.deferred($1) }
        list(record.cards) { $0.card($1) }
        ids(record.endedActivities)
        list(record.owedEnds) { $0.owedEnd($1) }
        bool(record.isRemoved)
        list(record.sessions) { $0.member($1) }
        list(record.successors) { $0.successor($1) }
        list(record.probes) { $0.probe($1) }
    }

    private mutating func settings(_ settings: DeviceSettings) {
        text(settings.user)
        optional(settings.osVersion) {
            $0.int($1.major)
            $0.int($1.minor)
        }
        text(settings.appVersion)
        text(settings.timeZone)
        optional(settings.quietHours) { $0.quietHours($1) }
        bool(settings.spoilerFree)
        bool(settings.sound)
        bool(settings.frequentUpdates)
        personalisation(settings.personalisation)
    }

    mutating func quietHours(_ hours: QuietHours) {
        int(hours.fromMinute)
        int(hours.toMinute)
    }

    mutating func personalisation(_ value: Personalisation) {
        switch value {
        case .none: byte(0)
        case .readable(let taste):
            byte(1)
            weights(taste.teams)
            weights(taste.leagues)
            double(taste.minimumWorth)
            int(taste.maxGames)
        case .unreadable(let text):
            byte(2)
            self.text(text)
        }
    }

    /// In order of the names: the same record is the same bytes.
    private mutating func weights(_ weights: [String: Double]) {
        list(weights.sorted { $0.key < $1.key }) {
            $0.text($1.key)
            $0.double($1.value)
        }
    }

    private mutating func pushToStart(_ held: PushToStart) {
        optional(held.address) { $0.address($1) }
        time(held.reportedAt)
        time(held.noneReportedAt)
        switch held.ownership {
        case .claiming: byte(0)
        case .owner: byte(1)
        case .superseded(let newer, let owed):
            byte(2)
            id(newer)
            optional(owed) { $0.handover($1) }
        }
    }

    mutating func handover(_ owed: Handover) {
        ledger(owed.ledger)
        list(owed.cards) { $0.card($1) }
        ids(owed.members)
        ids(owed.endedActivities)
        list(owed.marks) { $0.sentMark($1) }
        list(owed.sessions) { $0.member($1) }
        list(owed.successors) { $0.successor($1) }
    }

    private mutating func sentMark(_ mark: SentMark) {
        id(mark.key)
        optional(mark.fingerprint) { $0.signed(Int64(bitPattern: $1)) }
        optional(mark.front) { $0.id($1) }
        signed(mark.timestamp)
    }

    private mutating func selection(_ selection: Selection) {
        ids(selection.games)
        optional(selection.pinned) { $0.id($1) }
        ids(selection.muted)
        time(selection.syncedAt)
        time(selection.arrivedAt)
    }

    private mutating func deferred(_ deferred: DeferredStart) {
        ids(deferred.games)
        text(deferred.rule.rawValue)
        time(deferred.until)
    }

    private mutating func owedEnd(_ end: OwedEnd) {
        id(end.key)
        id(end.activity)
        address(end.address)
        time(end.limit)
        ids(end.games)
    }
}

extension ByteReader {
    fileprivate mutating func record() throws(CodecFault) -> LaneRecord {
        let device: DeviceID = try id("device")
        let app: AppID = try id("app")
        let settings = try settings()
        let held = try optional("pushToStart") { reader throws(CodecFault) in try reader.pushToStart() }
        let selection = try optional("selection") { reader throws(CodecFault) in try reader.selection() }
        var record = LaneRecord(device: device, app: app, ledger: try ledger("ledger"))
        record.settings = settings
        record.pushToStart = held
        record.selection = selection
        record.members = try ids("members")
        record.deferred = try optional("deferred") { reader throws(CodecFault) in try reader.deferred() }
        record.cards = try list("cards") { reader throws(CodecFault) in try reader.card("cards") }
        record.endedActivities = try ids("endedActivities")
        record.owedEnds = try list("owedEnds") { reader throws(CodecFault) in try reader.owedEnd() }
        record.isRemoved = try bool("isRemoved")
        guard version >= 2 else { return record }
        record.sessions = try list("sessions") { reader throws(CodecFault) in try reader.member("sessions") }
        record.successors = try list("successors") { reader throws(CodecFault) in try reader.successor("successors") }
        guard version >= 3 else { return record }
        record.probes = try list("probes") { reader throws(CodecFault) in try reader.probe("probes") }
        return record
    }

    private mutating func settings() throws(CodecFault) -> DeviceSettings {
        var settings = DeviceSettings()
        settings.user = try maybeText("settings.user")
        settings.osVersion = try optional("settings.osVersion") { reader throws(CodecFault) in
            let major = try reader.int("settings.osVersion")
            return OSVersion(major: major, minor: try reader.int("settings.osVersion"))
        }
        settings.appVersion = try maybeText("settings.appVersion")
        settings.timeZone = try text("settings.timeZone")
        settings.quietHours = try optional("settings.quietHours") { reader throws(CodecFault) in
            try reader.quietHours("settings.quietHours")
        }
        settings.spoilerFree = try bool("settings.spoilerFree")
        settings.sound = try bool("settings.sound")
        settings.frequentUpdates = try bool("settings.frequentUpdates")
        settings.personalisation = try personalisation("settings.personalisation")
        return settings
    }

    mutating func quietHours(_ field: String) throws(CodecFault) -> QuietHours {
        let from = try int(field)
        guard let hours = QuietHours(fromMinute: from, toMinute: try int(field)) else { throw fault(field) }
        return hours
    }

    mutating func personalisation(_ field: String) throws(CodecFault) -> Personalisation {
        switch try byte(field) {
        case 0: return .none
        case 1:
            let teams = try weights(field)
            let leagues = try weights(field)
            let worth = try double(field)
            return .readable(
                Taste(teams: teams, leagues: leagues, minimumWorth: worth, maxGames: try int(field)))
        case 2: return .unreadable(try text(field))
        default: throw fault(field)
        }
    }

    private mutating func weights(_ field: String) throws(CodecFault) -> [String: Double] {
        var weights: [String: Double] = [:]
        let pairs = try list(field) { reader throws(CodecFault) in
            (try reader.text(field), try reader.double(field))
        }
        for (name, weight) in pairs {
            guard weights.updateValue(weight, forKey: name) == nil else { throw fault(field) }
        }
        return weights
    }

    private mutating func pushToStart() throws(CodecFault) -> PushToStart {
        let address = try optional("pushToStart.address") { reader throws(CodecFault) in
            try reader.address("pushToStart.address")
        }
        let reported = try time("pushToStart.reportedAt")
        let none = try maybeTime("pushToStart.noneReportedAt")
        return PushToStart(address: address, reportedAt: reported, noneReportedAt: none, ownership: try ownership())
    }

    private mutating func ownership() throws(CodecFault) -> PushToStart.Ownership {
        let field = "pushToStart.ownership"
        switch try byte(field) {
        case 0: return .claiming
        case 1: return .owner
        case 2:
            let newer: DeviceID = try id(field)
            let owed = try optional(field) { reader throws(CodecFault) in try reader.handover(field) }
            return .superseded(by: newer, owed: owed)
        default: throw fault(field)
        }
    }

    mutating func handover(_ field: String) throws(CodecFault) -> Handover {
        let ledger = try ledger(field)
        let cards = try list(field) { reader throws(CodecFault) in try reader.card(field) }
        let members: [GameID] = try ids(field)
        let ended: [ActivityID] = try ids(field)
        let marks = try list(field) { reader throws(CodecFault) in try reader.sentMark(field) }
        var handover = Handover(
            ledger: ledger, cards: cards, members: members, endedActivities: ended, marks: marks)
        guard version >= 2 else { return handover }
        handover.sessions = try list(field) { reader throws(CodecFault) in try reader.member(field) }
        handover.successors = try list(field) { reader throws(CodecFault) in try reader.successor(field) }
        return handover
    }

    private mutating func sentMark(_ field: String) throws(CodecFault) -> SentMark {
        let key: CardKey = try id(field)
        let fingerprint = try optional(field) { reader throws(CodecFault) in try reader.signed(field) }
        let front: GameID? = try maybeID(field)
        return SentMark(
            key: key, fingerprint: fingerprint.map { UInt64(bitPattern: $0) }, front: front,
            timestamp: try signed(field))
    }

    private mutating func selection() throws(CodecFault) -> Selection {
        let games: [GameID] = try ids("selection.games")
        let pinned: GameID? = try maybeID("selection.pinned")
        let muted: [GameID] = try ids("selection.muted")
        let synced = try time("selection.syncedAt")
        return Selection(
            games: games, pinned: pinned, muted: muted, syncedAt: synced, arrivedAt: try time("selection.arrivedAt"))
    }

    private mutating func deferred() throws(CodecFault) -> DeferredStart {
        let games: [GameID] = try ids("deferred.games")
        let rule: Rule = try word("deferred.rule")
        return DeferredStart(games: games, rule: rule, until: try maybeTime("deferred.until"))
    }

    private mutating func owedEnd() throws(CodecFault) -> OwedEnd {
        let key: CardKey = try id("owedEnds.key")
        let activity: ActivityID = try id("owedEnds.activity")
        let address = try address("owedEnds.address")
        let limit = try time("owedEnds.limit")
        return OwedEnd(key: key, activity: activity, address: address, limit: limit, games: try ids("owedEnds.games"))
    }
}
