/// What the app tells the server. Each is one call of the HTTP interface.
public enum ClientReport: Hashable, Sendable {
    /// `PUT /v1/devices/{device}`. `app` where the server serves several.
    case device(DevicePatch, app: AppID?)
    /// `PUT /v1/devices/{device}/selection`.
    case selection(games: [GameID], pinned: GameID?, muted: [GameID], syncedAt: WallTime)
    /// `PUT /v1/devices/{device}/cards/{key}`.
    case cardToken(CardToken)
    /// `POST /v1/devices/{device}/cards/{key}/reports`.
    case card(CardReport)

    /// All four are idempotent: repeat them until a 2xx comes.
    public func call(of device: DeviceID) -> ClientCall {
        let path = "/v1/devices/\(device.text)"
        switch self {
        case .device(let patch, let app):
            return ClientCall(method: .put, path: path, body: body(of: patch, app: app))
        case .selection(let games, let pinned, let muted, let syncedAt):
            return ClientCall(
                method: .put, path: "\(path)/selection",
                body: .object([
                    "games": .array(games.map { .string($0.text) }),
                    "pinned": pinned.map { .string($0.text) } ?? .null,
                    "muted": .array(muted.map { .string($0.text) }),
                    "syncedAt": seconds(syncedAt),
                ]))
        case .cardToken(let token):
            var body: [String: JSONValue] = [
                "activity": .string(token.activity.text),
                "updateToken": .string(token.address.hex),
                "gateway": .string(token.address.gateway.rawValue),
                "startedBy": .string(token.startedBy.rawValue),
            ]
            if let began = token.began { body["began"] = seconds(began) }
            return ClientCall(method: .put, path: "\(path)/cards/\(token.key.text)", body: .object(body))
        case .card(let report):
            return ClientCall(
                method: .post, path: "\(path)/cards/\(report.key.text)/reports",
                body: .object([
                    "report": .string(report.kind.rawValue),
                    "activity": .string(report.activity.text),
                    "at": seconds(report.at),
                ]))
        }
    }
}

/// One HTTP call: `JSONEncoder` makes the bytes of its body. The key, the media type `application/json` and the
/// server's address are the app's to add.
public struct ClientCall: Hashable, Sendable {
    public enum Method: String, Hashable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    public let method: Method
    public let path: String
    public let body: JSONValue
}

/// A field left out keeps its value at the server; a token comes with its gateway (G1).
private func body(of patch: DevicePatch, app: AppID?) -> JSONValue {
    var body: [String: JSONValue] = [:]
    if let app { body["app"] = .string(app.text) }
    switch patch.user {
    case .absent: break
    case .null: body["user"] = .null
    case .value(let user): body["user"] = .string(user)
    }
    switch patch.pushToStart {
    case .absent: break
    case .null: body["pushToStartToken"] = .null
    case .value(let address):
        body["pushToStartToken"] = .string(address.hex)
        body["gateway"] = .string(address.gateway.rawValue)
    }
    if let version = patch.osVersion { body["osVersion"] = .string("\(version.major).\(version.minor)") }
    if let version = patch.appVersion { body["appVersion"] = .string(version) }
    if let zone = patch.zone { body["timeZone"] = .string(zone.name) }
    switch patch.quietHours {
    case .absent: break
    case .null: body["quietHours"] = .null
    case .value(let hours):
        body["quietHours"] = .object([
            "from": .string(clockText(hours.fromMinute)), "to": .string(clockText(hours.toMinute)),
        ])
    }
    if let wish = patch.spoilerFree { body["spoilerFree"] = .bool(wish) }
    if let wish = patch.sound { body["sound"] = .bool(wish) }
    if let wish = patch.frequentUpdates { body["frequentUpdates"] = .bool(wish) }
    switch patch.personalisation {
    case nil: break
    case .some(.none): body["personalisation"] = .null
    case .readable(let taste): body["personalisation"] = taste.json
    case .unreadable(let text): body["personalisation"] = .string(text)
    }
    return .object(body)
}

extension Taste {
    /// Version 1 of `personalisation`, as the server reads it.
    fileprivate var json: JSONValue {
        .object([
            "version": .integer(1),
            "teams": .object(teams.mapValues { .number($0) }),
            "leagues": .object(leagues.mapValues { .number($0) }),
            "minimumWorth": .number(minimumWorth),
            "maxGames": .integer(Int64(maxGames)),
        ])
    }
}

/// Unix seconds; a fraction only where there is one.
private func seconds(_ time: WallTime) -> JSONValue {
    time.milliseconds % 1000 == 0 ? .integer(time.unixSeconds) : .number(Double(time.milliseconds) / 1000)
}

/// `22:05`.
private func clockText(_ minute: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minute / 60)):\(two(minute % 60))"
}
