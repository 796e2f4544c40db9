internal import CardRules

/// A start at a gateway.
extension Judge {
    /// I3 for starts, and I2.
    mutating func judgeStart(
        _ payload: ReceivedPayload, _ attempt: PushAttempt, of phone: inout PhoneView, _ number: Int
    ) {
        let now = attempt.at
        guard payload.event == "start" else { return }
        if let alert = payload.alert {
            if alert.title.isEmpty || alert.body.isEmpty {
                add(.i3, number, "a start had an alert with an empty title or body", at: now)
            }
        } else {
            add(.i3, number, "a start had no alert", at: now)
        }
        if payload.staleDate != nil { add(.i3, number, "a start had a stale-date", at: now) }
        let key = payload.attributesType == options.slateAttributesType ? CardKey.slate : payload.session
        guard let key else { return }
        let due = reissueDue
        let isReissue = phone.cards.contains {
            $0.isAlive && $0.key == key && now.seconds(since: $0.began) >= due
        }
        // R5: after quiet hours a session's card is followed by one that only the hard cap holds.
        let isFollower = isReissue || key != .slate && phone.settings?.quietHours != nil
        judgeWishes(key, payload, attempt, of: phone, number, isFollower: isFollower)
        guard attempt.status == 200 else { return }
        if attempt.answerArrives { phone.acceptedAt[key] = now }
        turnNight(of: &phone, at: now)
        if let timestamp = payload.timestamp {
            phone.acceptedStarts[timestamp] = PhoneView.AcceptedStart(
                queuedAt: attempt.queuedAt ?? now, isHeard: attempt.answerArrives)
        }
        phone.startsInAll += 1
        if phone.startsInAll > tuning.starts.hardCap {
            add(.i2, number, "\(phone.startsInAll) starts were accepted in one night", at: now)
        }
        guard !isFollower else { return }
        var starts = phone.starts[key] ?? PhoneView.Starts()
        starts.ordinary += 1
        phone.starts[key] = starts
        let allowed = starts.isAcknowledged ? tuning.starts.acknowledged : tuning.starts.unacknowledged
        if starts.ordinary > allowed {
            add(
                .i2, number,
                "\(starts.ordinary) starts of \(key) were accepted in one night, "
                    + (starts.isAcknowledged ? "acknowledged" : "unacknowledged"),
                at: now)
        }
    }

    /// I2: S1, S5, S8, S9 and S10, where nothing on its way can have kept the server from knowing.
    private mutating func judgeWishes(
        _ key: CardKey, _ payload: ReceivedPayload, _ attempt: PushAttempt, of phone: PhoneView, _ number: Int,
        isFollower: Bool
    ) {
        let now = attempt.at
        guard phone.underWay == 0, attempt.at >= phone.isTwoUntil, let settings = phone.settings else { return }
        // By the payload: its record, and the pool, may have taken long.
        let stamped = payload.timestamp.map { WallTime(seconds: $0) } ?? now
        let decided = min(stamped, attempt.queuedAt ?? now)
        func isKnown(_ time: WallTime?) -> Bool {
            time.map { decided.seconds(since: $0) > options.inFlightSeconds } ?? false
        }
        if isKnown(phone.lastRegisteredAt) {
            if settings.user == nil { add(.i2, number, "a start for a phone whose user is signed out (S1)", at: now) }
            if let hours = settings.quietHours, isQuiet(hours, in: settings.timeZone, around: decided) {
                add(.i2, number, "a start of \(key) in quiet hours (S5)", at: now)
            }
        }
        let turns = tuning.night.rollsAtMinute
        if let dismissed = phone.dismissedAt[key], isKnown(dismissed),
            nightNumber(at: dismissed, zone: settings.timeZone, rollsAtMinute: turns)
                == nightNumber(at: decided, zone: settings.timeZone, rollsAtMinute: turns)
        {
            add(.i2, number, "a start of \(key), dismissed by its owner tonight (S9)", at: now)
        }
        guard !isFollower else { return }
        if key == .slate, isKnown(phone.selectedAt), let selected = phone.selectedAt,
            decided.seconds(since: selected) < tuning.authority.syncHoldSeconds - options.inFlightSeconds,
            phone.recordSince.map({ $0 < selected }) ?? true
        {
            let seconds = Int(decided.seconds(since: selected))
            add(.i2, number, "a start \(seconds) s after the app's selection (S8)", at: now)
        }
        // What became of the start before may have died with its lane, or with the record that asked for it.
        if let accepted = phone.acceptedAt[key],
            decided.seconds(since: accepted) < tuning.starts.gapSeconds - options.inFlightSeconds,
            !hasRestarted(phone, from: accepted.advanced(bySeconds: -options.inFlightSeconds)),
            phone.recordSince.map({ $0 < accepted }) ?? true
        {
            let seconds = Int(decided.seconds(since: accepted))
            add(.i2, number, "a start of \(key) \(seconds) s after the one before (S10)", at: now)
        }
    }

    /// A little before and a little after that time too.
    private func isQuiet(_ hours: QuietHours, in zone: String, around time: WallTime) -> Bool {
        [-60 - options.inFlightSeconds, 60 + options.inFlightSeconds].allSatisfy { seconds in
            let minute = localMinute(at: time.advanced(bySeconds: seconds), zone: zone)
            return hours.fromMinute < hours.toMinute
                ? minute >= hours.fromMinute && minute < hours.toMinute
                : minute >= hours.fromMinute || minute < hours.toMinute
        }
    }
}
