import CardRules
import Intake
import PushWire
import Simulation

extension ClientRequest {
    /// What a simulated app reports, as the call that a real one makes.
    /// - Parameter zones: a time zone that the machine does not know is left out; the server would refuse the whole body.
    init(_ report: PhoneReport, zones: ZoneDirectory) {
        let device = report.device.text
        switch report.body {
        case .registered(let body):
            self = .json("PUT", ClientRequest.path(["v1", "devices", device]), body.members(zones: zones))
        case .selection(let games, let pinned, let muted, let syncedAt):
            self = .json(
                "PUT", ClientRequest.path(["v1", "devices", device, "selection"]),
                [
                    "games": .array(games.map { .string($0.text) }),
                    "pinned": pinned.map { .string($0.text) } ?? .null,
                    "muted": .array(muted.map { .string($0.text) }), "syncedAt": .seconds(syncedAt),
                ])
        case .cardToken(let key, let activity, let token, let startedBy, let began):
            self = .json(
                "PUT", ClientRequest.path(["v1", "devices", device, "cards", key.text]),
                [
                    "activity": .string(activity.text), "updateToken": .string(token.hex),
                    "gateway": .string(token.gateway.rawValue), "startedBy": .string(startedBy.rawValue),
                    "began": .seconds(began),
                ])
        case .card(let key, let kind, let activity, let at):
            self = .json(
                "POST", ClientRequest.path(["v1", "devices", device, "cards", key.text, "reports"]),
                ["report": .string(kind.rawValue), "activity": .string(activity.text), "at": .seconds(at)])
        }
    }

    /// `POST /v1/moments`: a made-up moment of one game.
    static func moment(_ kind: MomentKind, of game: GameID, seconds: Double, for devices: [DeviceID]) -> ClientRequest {
        .json(
            "POST", "/v1/moments",
            [
                "game": .string(game.text), "kind": .string(kind.rawValue), "seconds": .number(seconds),
                "devices": .array(devices.map { .string($0.text) }),
            ])
    }

    /// `POST /v1/ticks`.
    static func ticks(_ lines: some Sequence<SlateLine>) -> ClientRequest {
        ClientRequest(
            "POST", "/v1/ticks", headers: [ClientHeader("Content-Type", "application/x-ndjson")],
            body: SlateLineWriter.text(of: lines))
    }

    /// A call with an object as its body.
    private static func json(_ method: String, _ path: String, _ members: [String: JSONValue]) -> ClientRequest {
        var writer = JSONWriter()
        writer.value(.object(members))
        return .json(method, path, writer.bytes)
    }

    /// The same with a key.
    func with(key: String) -> ClientRequest {
        var request = self
        request.headers.append(ClientHeader("Authorization", "Bearer \(key)"))
        return request
    }
}

extension PhoneReport.Registration {
    fileprivate func members(zones: ZoneDirectory) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "user": user.map { .string($0) } ?? .null,
            "osVersion": .string("\(osVersion.major).\(osVersion.minor)"), "appVersion": .string(appVersion),
            "quietHours": quietHours.map { hours in
                .object(["from": .minuteOfDay(hours.fromMinute), "to": .minuteOfDay(hours.toMinute)])
            } ?? .null,
            "spoilerFree": .bool(spoilerFree), "sound": .bool(sound), "frequentUpdates": .bool(frequentUpdates),
            "personalisation": personalisation.json,
        ]
        if zones.zone(named: timeZone) != nil { members["timeZone"] = .string(timeZone) }
        switch pushToStart {
        case .token(let address):
            members["pushToStartToken"] = .string(address.hex)
            members["gateway"] = .string(address.gateway.rawValue)
        case .none: members["pushToStartToken"] = .null
        }
        return members
    }
}

extension Personalisation {
    /// As the app that computed it has it.
    fileprivate var json: JSONValue {
        switch self {
        case .none: .null
        case .readable(let taste):
            .object([
                "version": .integer(1), "teams": .object(taste.teams.mapValues { .number($0) }),
                "leagues": .object(taste.leagues.mapValues { .number($0) }),
                "minimumWorth": .number(taste.minimumWorth), "maxGames": .integer(Int64(taste.maxGames)),
            ])
        case .unreadable(let text): (try? JSONDocument(Array(text.utf8)))?.root ?? .string(text)
        }
    }
}

extension JSONValue {
    /// Unix seconds, to the millisecond.
    fileprivate static func seconds(_ time: WallTime) -> JSONValue { .number(Double(time.milliseconds) / 1000) }

    /// `HH:MM`.
    fileprivate static func minuteOfDay(_ minute: Int) -> JSONValue {
        let parts = [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return .string(parts.joined(separator: ":"))
    }
}
