public import CardRules

/// What passes the gateways.
extension Judge {
    /// A push was answered. To be told before the phone gets it.
    public mutating func sees(_ attempt: PushAttempt) { sees(attempt, reader.read(attempt.push)) }

    mutating func sees(_ attempt: PushAttempt, _ read: ReadPush) {
        let now = attempt.at
        let payload = read.payload
        judgeKind(of: attempt, payload)
        if !ids.insert(attempt.push.apnsID) {
            add(.i10, attempt.phone, "one apns-id was used for two pushes", at: now)
        }
        note(refusal: attempt)
        guard let number = attempt.phone, let payload else { return }
        var phone = take(number)
        defer { put(phone, number) }
        let content = read.content
        if let content { judgeSpoilers(content, payload, of: phone, number, at: now) }
        switch attempt.target {
        case .pushToStart: judgeStart(payload, attempt, of: &phone, number)
        case .activity(let activity):
            if let place = phone.place(of: activity) {
                // Its start may have been under way when the lane died.
                let since = phone.cards[place].decidedAt.advanced(bySeconds: -options.answerSeconds)
                let restarts = restarts.count { $0 >= since } + phone.restarts.count { $0 >= since }
                if payload.event == "update", let content {
                    judgeFlicker(content, attempt, place: place, of: &phone, number)
                }
                // What its lane heard then may have died with it, unwritten.
                if let gone = phone.cards[place].goneAnsweredAt,
                    hasRestarted(phone, from: gone, to: gone.advanced(bySeconds: options.answerSeconds))
                {
                    phone.cards[place].goneAnsweredAt = nil
                }
                let isTwo = attempt.at < phone.isTwoUntil
                judgeChange(
                    payload, content, attempt, of: &phone.cards[place], number, restarts: restarts, isTwo: isTwo)
                if let since = phone.recordSince, attempt.queuedAt ?? attempt.at <= since {
                    phone.cards[place].isDirty = true
                }
            }
        case nil: break
        }
    }

    /// A push to an activity never reached the gateway that knows it, and the server knows that.
    public mutating func isUnsent(to activity: ActivityID, on number: Int) {
        var phone = take(number)
        defer { put(phone, number) }
        if let place = phone.place(of: activity) { phone.cards[place].isDirty = true }
    }

    /// I3: no background push.
    private mutating func judgeKind(of attempt: PushAttempt, _ payload: ReceivedPayload?) {
        if attempt.push.pushType != "liveactivity" {
            add(.i3, attempt.phone, "a push of type \(attempt.push.pushType) was sent", at: attempt.at)
        } else if payload?.isBackground == true {
            add(.i3, attempt.phone, "a silent background push was sent", at: attempt.at)
        }
    }

    private mutating func note(refusal attempt: PushAttempt) {
        guard attempt.status != 200, attempt.answerArrives else { return }
        if attempt.reason == "BadDeviceToken" {
            refusals[attempt.token, default: Refusals()].gateways.insert(attempt.gateway)
        } else if attempt.status == 410 {
            refusals[attempt.token, default: Refusals()].goneSince = attempt.timestamp ?? attempt.at.milliseconds
        }
    }

    /// I5 and I10.
    private mutating func judgeChange(
        _ payload: ReceivedPayload, _ content: SlateContent?, _ attempt: PushAttempt, of card: inout CardView,
        _ number: Int, restarts: Int, isTwo: Bool
    ) {
        let now = attempt.at
        let what = payload.event == "end" ? "an end" : "an update"
        // What the server knew when it decided: a push may wait in its pool.
        let decided = attempt.queuedAt ?? now
        let age = decided.seconds(since: card.began)
        if age > tuning.life.limitSeconds + options.inFlightSeconds {
            add(.i5, number, "\(what) was sent to a card of \(Int(age)) s", at: now)
        } else if let over = card.overReportedAt, decided.seconds(since: over) > options.inFlightSeconds {
            add(.i5, number, "\(what) was sent to a card that the app had reported over", at: now)
        } else if let gone = card.goneAnsweredAt, decided.seconds(since: gone) > options.answerSeconds {
            add(.i5, number, "\(what) was sent to a card whose token APNs had called gone", at: now)
        }
        if attempt.isLost { card.isLost = true }
        if attempt.status == 410, attempt.answerArrives { card.goneAnsweredAt = card.goneAnsweredAt ?? now }
        guard attempt.status == 200 else {
            card.isDirty = true
            return
        }
        if let timestamp = payload.timestamp {
            if let newest = card.newestTimestamp, timestamp <= newest, !isTwo {
                add(.i10, number, "\(what) carried timestamp \(timestamp) after \(newest)", at: now)
            }
            card.newestTimestamp = max(card.newestTimestamp ?? timestamp, timestamp)
        }
        if payload.event == "end" { card.isEndAccepted = true }
        guard payload.event == "update", let content = content?.withoutTime else { return }
        if content == card.accepted, !card.isDirty, !isTwo {
            if card.repeated < restarts {
                card.repeated += 1
            } else {
                add(.i10, number, "an update said what the card was known to show", at: now)
            }
        }
        guard attempt.answerArrives else {
            card.isDirty = true
            return
        }
        card.accepted = content
        card.wasDirty = card.isDirty
        card.isDirty = false
    }

    /// I3: P2 on a phone that wants no spoilers.
    private mutating func judgeSpoilers(
        _ content: SlateContent, _ payload: ReceivedPayload, of phone: PhoneView, _ number: Int, at now: WallTime
    ) {
        guard let settings = phone.settings, settings.spoilerFree else { return }
        if !content.spoilerFree { add(.i3, number, "the content is not marked spoiler-free", at: now) }
        for game in content.games {
            if game.homeScore != nil || game.awayScore != nil || game.detail != nil || game.moment != nil {
                add(.i3, number, "the content of a spoiler-free card shows how \(game.id) stands", at: now)
            }
            if slate.isBeyondRegulation(game.id, since: WallTime(seconds: content.asOf)),
                game.period != nil || game.clock != nil
            {
                add(.i3, number, "a spoiler-free card shows that \(game.id) is beyond regulation", at: now)
            }
        }
        guard let alert = payload.alert else { return }
        var text = alert.title + "\n" + alert.body
        for game in content.games {
            for team in [game.home, game.away] { text = text.split(separator: team).joined(separator: " ") }
        }
        let words = text.lowercased()
        let isTelling =
            words.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            || ["overtime", "shootout", "walk-off", "comeback", "upset", "close finish", "leads", "wins"]
                .contains { !words.split(separator: $0, omittingEmptySubsequences: false).dropFirst().isEmpty }
        if isTelling { add(.i3, number, "an alert tells how a game stands", at: now) }
    }
}
