public import CardRules

/// What a push reaches on a phone: the token that it was sent to.
public enum PushTarget: Hashable, Sendable {
    case pushToStart
    case activity(ActivityID)
}

extension Phone {
    /// A push arrives. What iOS makes of it: ref 4.3 and P5 to P21. Nothing of it is visible to the server.
    mutating func receive(
        _ push: ReceivedPush, read: ReadPush, for target: PushTarget, at now: WallTime, into output: inout PhoneOutput
    ) {
        run(until: now, into: &output)
        let payload = push.pushType == "liveactivity" ? read.payload : nil
        let drop: PhoneEvent.Drop?
        if push.pushType != "liveactivity" {
            drop = .notLiveActivity
        } else if let payload {
            switch target {
            case .pushToStart: drop = start(payload, read.content, push, at: now, into: &output)
            case .activity(let id):
                drop = change(id, payload, read.content, push, at: now, into: &output)
            }
        } else {
            drop = .noPayload
        }
        guard let drop else { return }
        let activity: ActivityID? = if case .activity(let id) = target { id } else { nil }
        output.events.append(
            (now, .dropped(drop, event: payload?.event, activity: activity, apnsID: push.apnsID)))
    }

    /// P5 to P9, P13.
    private mutating func start(
        _ payload: ReceivedPayload, _ content: SlateContent?, _ push: ReceivedPush, at now: WallTime,
        into output: inout PhoneOutput
    ) -> PhoneEvent.Drop? {
        let subscription = "\(profile.bundleID)::pushToStart"
        guard profile.osVersion >= .withPushToStart else { return .oldSystem }
        write("Received pushToStart notification for <private>", at: now)
        guard payload.event == "start" else {
            write("Unsupported push notification event type for subscription: \(subscription)", at: now)
            return payload.event == "update" || payload.event == "end" ? .wrongSubscription : .unknownEvent
        }
        refillBudget(at: now)
        if let fault = fault(in: payload, at: now) {
            if options.chargesInvalidStarts { startBudget -= 1 }
            return fault
        }
        let key = key(of: payload)
        let session = key == .slate ? nil : payload.sessionContent
        guard let shown = key == .slate ? content : session.map({ _ in .none }) else {
            write("Could not create a new activity from push notification: <private>", at: now)
            return .undecodableContent
        }
        startBudget -= 1
        guard startBudget >= 0 else {
            write("Push-to-start budget exceeded for \(subscription); not starting activity", at: now)
            return .startBudget
        }
        write("Reduced budget for \(subscription) to: \(startBudget)", at: now)
        guard cards.count(where: \.isAlive) < options.activityLimit else { return .tooManyActivities }
        let getsToken =
            payload.wantsToken || !options.needsTokenInput || profile.osVersion < OSVersion(major: 18, minor: 0)
        alerts += 1
        show(
            key: key, startedBy: .push, content: shown, session: session, timestamp: payload.timestamp,
            staleDate: payload.staleDate, getsToken: getsToken, apnsID: push.apnsID, at: now, into: &output)
        write("Activity started", at: now)
        if app == .forceQuit {
            write("Did not launch process for reason \"pushToStart\"", at: now)
        } else {
            write("Launched process for reason \"pushToStart\"", at: now)
            killUnfitCards(but: cards.last?.activity, at: now, into: &output)
            reportCards(at: now, into: &output)
        }
        if !hasChangedToken { changeToken(at: now, into: &output) }
        return nil
    }

    private func isRegistered(_ type: String) -> Bool {
        type == options.slateAttributesType || options.sessionAttributesTypes.contains(type)
    }

    /// By its attributes the app knows which card it is.
    private func key(of payload: ReceivedPayload) -> CardKey {
        guard let type = payload.attributesType, options.sessionAttributesTypes.contains(type) else { return .slate }
        return payload.session ?? CardKey(unchecked: "unnamed")
    }

    private mutating func fault(in payload: ReceivedPayload, at now: WallTime) -> PhoneEvent.Drop? {
        guard payload.timestamp != nil else { return .noTimestamp }
        if let timestamp = payload.timestamp,
            WallTime(seconds: timestamp).seconds(since: now) > options.aheadToleranceSeconds
        {
            return .tooFarAhead
        }
        guard payload.alert != nil else {
            write("Received start without an alert configuration", at: now)
            return .noAlert
        }
        guard payload.attributesType.map(isRegistered) == true, payload.hasAttributes else {
            write("Incoming message does not contain usable attributes", at: now)
            return .noAttributes
        }
        if payload.channel != nil {
            if payload.wantsToken {
                write("Incoming message contains two forms of push input", at: now)
                return .twoInputs
            }
            // No channels here yet: on iOS 18 an unknown one fails too (ref L29).
            return .channelInput
        }
        return nil
    }

    /// P14 to P19, P21.
    private mutating func change(
        _ id: ActivityID, _ payload: ReceivedPayload, _ content: SlateContent?, _ push: ReceivedPush,
        at now: WallTime, into output: inout PhoneOutput
    ) -> PhoneEvent.Drop? {
        guard let place = index(of: id), cards[place].isAlive else {
            write("Subscription does not exist: \(id.text)", at: now)
            return .notAlive
        }
        guard let event = payload.event, event == "update" || event == "end" else {
            write("Unsupported push notification event type for subscription: \(id.text)", at: now)
            return payload.event == "start" ? .wrongSubscription : .unknownEvent
        }
        let session = cards[place].session == nil ? nil : payload.sessionContent
        let content = cards[place].session == nil ? content : session.map { _ in .none }
        if content == nil, payload.content != nil {
            write("Unable to decode content state: <private>", process: "LineupApp", at: now)
        }
        guard let timestamp = payload.timestamp else { return .noTimestamp }
        if event == "end" {
            if !options.endsDespiteOldTimestamp, timestamp < cards[place].newestTimestamp { return .olderTimestamp }
            return applyEnd(
                place, payload, content: content, session: session, timestamp: timestamp, at: now, into: &output)
        }
        guard let content else {
            if payload.content == nil {
                write("Could not create an update payload from push notification: <private>", at: now)
            }
            return .undecodableContent
        }
        if let drop = fault(ofTimestamp: timestamp, after: cards[place].newestTimestamp, at: now) { return drop }
        guard push.priority != 10 || spendUrgent(place, at: now) else { return .updateBudget }
        cards[place].newestTimestamp = timestamp
        cards[place].content = content
        if let session { cards[place].session = session }
        cards[place].staleDate = payload.staleDate
        if let date = payload.staleDate, WallTime(seconds: date) <= now {
            cards[place].state = .stale
        } else {
            cards[place].state = .active
            cards[place].isStaleReported = false
            if let date = payload.staleDate { scheduleStale(id, at: WallTime(seconds: date)) }
        }
        if payload.alert != nil { alerts += 1 }
        output.events.append((now, .updated(activity: id, content: content, timestamp: timestamp)))
        return nil
    }

    private func fault(ofTimestamp timestamp: Int64, after newest: Int64, at now: WallTime) -> PhoneEvent.Drop? {
        if timestamp < newest { return .olderTimestamp }
        if timestamp == newest, options.dropsEqualTimestamps { return .equalTimestamp }
        let ahead = Double(timestamp) - Double(now.milliseconds) / 1000
        if ahead > options.aheadToleranceSeconds { return .tooFarAhead }
        if let tolerance = options.pastToleranceSeconds, ahead < -tolerance { return .tooOld }
        return nil
    }

    private mutating func applyEnd(
        _ place: Int, _ payload: ReceivedPayload, content: SlateContent?, session: [UInt8]?, timestamp: Int64,
        at now: WallTime,
        into output: inout PhoneOutput
    ) -> PhoneEvent.Drop? {
        let id = cards[place].activity
        cards[place].newestTimestamp = max(cards[place].newestTimestamp, timestamp)
        if let content {
            cards[place].content = content
            if let session { cards[place].session = session }
            output.events.append((now, .updated(activity: id, content: content, timestamp: timestamp)))
        }
        let latest = now.advanced(bySeconds: options.lingerSeconds)
        let removeAt = payload.dismissalDate.map { min(WallTime(seconds: $0), latest) } ?? latest
        end(id, by: .push, at: now, removeAt: removeAt, into: &output)
        return nil
    }

    /// One appointment for staleness at a time: an update every few seconds must not pile them up.
    private mutating func scheduleStale(_ id: ActivityID, at time: WallTime) {
        agenda.removeAll {
            if case .stale(let other) = $0.action { other == id } else { false }
        }
        schedule(.stale(id), at: time)
    }

    /// Ref P21.
    private mutating func spendUrgent(_ place: Int, at now: WallTime) -> Bool {
        if now.seconds(since: cards[place].urgentSince) >= 3600 {
            cards[place].urgentSince = now
            cards[place].urgentSpent = 0
        }
        cards[place].urgentSpent += 1
        return cards[place].urgentSpent
            <= (profile.frequentUpdates ? options.urgentPerHourFrequent : options.urgentPerHour)
    }
}
