public import CardRules

extension PhoneReport {
    /// What the call comes to at its lane, where no HTTP is between.
    /// - Parameters:
    ///   - zone: `nil` for a name that is not known: the lane keeps the zone that it has.
    ///   - address: the addresses of the report pass through it.
    public func event(
        zone: (String) -> Zone?, address: (PushAddress) -> PushAddress = { $0 }
    ) -> LaneEvent {
        switch body {
        case .registered(let body):
            var patch = DevicePatch()
            patch.user = body.user.map { .value($0) } ?? .null
            patch.pushToStart = if case .token(let given) = body.pushToStart { .value(address(given)) } else { .null }
            patch.osVersion = body.osVersion
            patch.appVersion = body.appVersion
            patch.zone = zone(body.timeZone)
            patch.quietHours = body.quietHours.map { .value($0) } ?? .null
            patch.spoilerFree = body.spoilerFree
            patch.sound = body.sound
            patch.frequentUpdates = body.frequentUpdates
            patch.personalisation = body.personalisation
            return .registered(patch)
        case .selection(let games, let pinned, let muted, let syncedAt):
            return .selected(games: games, pinned: pinned, muted: muted, syncedAt: syncedAt)
        case .cardToken(let key, let activity, let token, let startedBy, let began):
            return .cardToken(
                CardToken(key: key, activity: activity, address: address(token), startedBy: startedBy, began: began))
        case .card(let key, let kind, let activity, let at):
            let word = CardRules.CardReport.Kind(rawValue: kind.rawValue) ?? .opened
            return .reported(CardRules.CardReport(key: key, kind: word, activity: activity, at: at))
        }
    }
}
