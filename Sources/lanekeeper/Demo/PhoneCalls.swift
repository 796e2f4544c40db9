import CardRules
import Intake
import Lanes
import Simulation

/// What a simulated app reports, as the calls that the HTTP interface makes of the same bodies.
func call(for report: PhoneReport, app: AppID, zones: ZoneDirectory) -> DeviceCall {
    switch report.body {
    case .registered(let body):
        var patch = DevicePatch()
        patch.user = body.user.map { .value($0) } ?? .null
        patch.osVersion = body.osVersion
        patch.appVersion = body.appVersion
        patch.zone = zones.zone(named: body.timeZone)
        patch.quietHours = body.quietHours.map { .value($0) } ?? .null
        patch.spoilerFree = body.spoilerFree
        patch.sound = body.sound
        patch.frequentUpdates = body.frequentUpdates
        patch.personalisation = body.personalisation
        switch body.pushToStart {
        case .token(let address): patch.pushToStart = .value(address)
        case .none: patch.pushToStart = .null
        }
        return DeviceCall(device: report.device, app: app, event: .registered(patch))
    case .selection(let games, let pinned, let muted, let syncedAt):
        return DeviceCall(
            device: report.device, app: app,
            event: .selected(games: games, pinned: pinned, muted: muted, syncedAt: syncedAt))
    case .cardToken(let key, let activity, let token, let startedBy, let began):
        return DeviceCall(
            device: report.device, app: app,
            event: .cardToken(
                CardToken(key: key, activity: activity, address: token, startedBy: startedBy, began: began)))
    case .card(let key, let kind, let activity, let at):
        return DeviceCall(
            device: report.device, app: app,
            event: .reported(
                CardReport(
                    key: key, kind: CardReport.Kind(rawValue: kind.rawValue) ?? .stale, activity: activity, at: at)))
    }
}
