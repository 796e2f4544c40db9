internal import CardRules
internal import Lanes

/// A posted event as versioned bytes. Nodes of neighbouring versions read each other's during a rolling deploy: a new
/// event gets a new number, and a field that joins a new version of the whole.
enum EventCodec {
    static let version: UInt8 = 1

    static func encode(_ event: PostedEvent) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        // Records in it (handovers) are of this version.
        writer.byte(RecordCodec.version)
        writer.optional(event.app) { $0.id($1) }
        switch event.content {
        case .session(let key, let device):
            writer.byte(0)
            writer.id(key)
            writer.optional(device) { $0.id($1) }
        case .event(let event): writer.event(event)
        }
        return writer.bytes
    }

    /// - Throws: `CodecFault`, naming the field; for any bytes whatever, and never anything worse.
    static func decode(_ bytes: [UInt8], for device: DeviceID) throws(CodecFault) -> PostedEvent {
        var reader = ByteReader(bytes)
        let found = try reader.byte("version")
        guard found == version else { throw reader.fault("version", .version(Int(found))) }
        let record = try reader.byte("record version")
        guard (1...RecordCodec.version).contains(record) else {
            throw reader.fault("record version", .version(Int(record)))
        }
        reader.version = record
        let app: AppID? = try reader.maybeID("app")
        let content: PostedEvent.Content
        let kind = try reader.byte("event")
        if kind == 0 {
            let key: CardKey = try reader.id("session")
            content = .session(key, as: try reader.maybeID("session.as"))
        } else {
            content = .event(try reader.event(kind))
        }
        try reader.finish("event")
        return PostedEvent(device: device, app: app, content: content)
    }
}

/// What the owner answered.
enum ReplyCodec {
    static func encode(_ reply: DeviceReply) -> [UInt8] {
        var writer = ByteWriter()
        writer.bool(reply.needsToken)
        switch reply.answer {
        case .done: writer.byte(0)
        case .unknownDevice: writer.byte(1)
        case .unknownCard: writer.byte(2)
        case .staleSelection(let held):
            writer.byte(3)
            writer.time(held)
        case .unavailable: writer.byte(4)
        case .overloaded: writer.byte(5)
        case .otherApp(let held):
            writer.byte(6)
            writer.id(held)
        }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(CodecFault) -> DeviceReply {
        var reader = ByteReader(bytes)
        let needsToken = try reader.bool("needsToken")
        let answer: DeviceAnswer
        switch try reader.byte("answer") {
        case 0: answer = .done
        case 1: answer = .unknownDevice
        case 2: answer = .unknownCard
        case 3: answer = .staleSelection(held: try reader.time("held"))
        case 4: answer = .unavailable
        case 5: answer = .overloaded
        case 6: answer = .otherApp(held: try reader.id("app"))
        default: throw reader.fault("answer")
        }
        try reader.finish("answer")
        return DeviceReply(answer: answer, needsToken: needsToken)
    }
}

extension ByteWriter {
    fileprivate mutating func event(_ event: LaneEvent) {
        switch event {
        case .registered(let patch):
            byte(1)
            self.patch(patch)
        case .selected(let games, let pinned, let muted, let syncedAt):
            byte(2)
            ids(games)
            optional(pinned) { $0.id($1) }
            ids(muted)
            time(syncedAt)
        case .cardToken(let token):
            byte(3)
            id(token.key)
            id(token.activity)
            address(token.address)
            bool(token.startedBy == .app)
            time(token.began)
        case .reported(let report):
            byte(4)
            id(report.key)
            text(report.kind.rawValue)
            id(report.activity)
            time(report.at)
        case .removed: byte(5)
        case .superseded(let newer, let token):
            byte(6)
            id(newer)
            blob(token)
        case .owned(let token, let older, let handover):
            byte(7)
            blob(token)
            optional(older) { $0.id($1) }
            optional(handover) { $0.handover($1) }
        case .handoverTaken(let newer):
            byte(8)
            id(newer)
        case .madeUpMoment(let game, let kind, let until):
            byte(9)
            id(game)
            text(kind.rawValue)
            time(until)
        case .probe(let gateway):
            byte(10)
            optional(gateway) { $0.gateway($1) }
        // None of them leaves its node; a look does no harm.
        case .tick, .look, .session, .verdict, .retuned: byte(11)
        }
    }

    private mutating func patch(_ patch: DevicePatch) {
        patched(patch.user) { $0.text($1) }
        patched(patch.pushToStart) { $0.address($1) }
        optional(patch.osVersion) {
            $0.int($1.major)
            $0.int($1.minor)
        }
        text(patch.appVersion)
        text(patch.zone?.name)
        patched(patch.quietHours) { $0.quietHours($1) }
        for flag in [patch.spoilerFree, patch.sound, patch.frequentUpdates] { optional(flag) { $0.bool($1) } }
        optional(patch.personalisation) { $0.personalisation($1) }
    }
}

extension ByteReader {
    fileprivate mutating func event(_ kind: UInt8) throws(CodecFault) -> LaneEvent {
        switch kind {
        case 1: return .registered(try patch())
        case 2:
            let games: [GameID] = try ids("selected.games")
            let pinned: GameID? = try maybeID("selected.pinned")
            let muted: [GameID] = try ids("selected.muted")
            return .selected(games: games, pinned: pinned, muted: muted, syncedAt: try time("selected.syncedAt"))
        case 3:
            let key: CardKey = try id("cardToken.key")
            let activity: ActivityID = try id("cardToken.activity")
            let address = try address("cardToken.address")
            let startedBy: Card.StartedBy = try bool("cardToken.startedBy") ? .app : .push
            return .cardToken(
                CardToken(
                    key: key, activity: activity, address: address, startedBy: startedBy,
                    began: try maybeTime("cardToken.began")))
        case 4:
            let key: CardKey = try id("reported.key")
            let kind: CardReport.Kind = try word("reported.kind")
            let activity: ActivityID = try id("reported.activity")
            return .reported(CardReport(key: key, kind: kind, activity: activity, at: try time("reported.at")))
        case 5: return .removed
        case 6:
            let newer: DeviceID = try id("superseded.by")
            return .superseded(by: newer, token: try blob("superseded.token"))
        case 7:
            let token = try blob("owned.token")
            let older: DeviceID? = try maybeID("owned.from")
            let handover = try optional("owned.handover") { reader throws(CodecFault) in
                try reader.handover("owned.handover")
            }
            return .owned(token: token, from: older, handover: handover)
        case 8: return .handoverTaken(by: try id("handoverTaken.by"))
        case 9:
            let game: GameID = try id("moment.game")
            let kind: MomentKind = try word("moment.kind")
            return .madeUpMoment(game: game, kind: kind, until: try time("moment.until"))
        case 10:
            return .probe(try optional("probe") { reader throws(CodecFault) in try reader.gateway("probe") })
        case 11: return .look
        default: throw fault("event")
        }
    }

    /// The zone comes without its table: whoever applies it looks it up.
    private mutating func patch() throws(CodecFault) -> DevicePatch {
        var patch = DevicePatch()
        patch.user = try patched("registered.user") { reader throws(CodecFault) in
            try reader.text("registered.user")
        }
        patch.pushToStart = try patched("registered.pushToStart") { reader throws(CodecFault) in
            try reader.address("registered.pushToStart")
        }
        patch.osVersion = try optional("registered.osVersion") { reader throws(CodecFault) in
            let major = try reader.int("registered.osVersion")
            return OSVersion(major: major, minor: try reader.int("registered.osVersion"))
        }
        patch.appVersion = try maybeText("registered.appVersion")
        patch.zone = try maybeText("registered.zone").map { Zone(name: $0) }
        patch.quietHours = try patched("registered.quietHours") { reader throws(CodecFault) in
            try reader.quietHours("registered.quietHours")
        }
        patch.spoilerFree = try flag("registered.spoilerFree")
        patch.sound = try flag("registered.sound")
        patch.frequentUpdates = try flag("registered.frequentUpdates")
        patch.personalisation = try optional("registered.personalisation") { reader throws(CodecFault) in
            try reader.personalisation("registered.personalisation")
        }
        return patch
    }

    private mutating func flag(_ field: String) throws(CodecFault) -> Bool? {
        try optional(field) { reader throws(CodecFault) in try reader.bool(field) }
    }
}
