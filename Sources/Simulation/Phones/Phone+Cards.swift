internal import CardRules

/// What iOS does with activities by itself and at the owner's hand.
extension Phone {
    /// Puts a new activity up. The oldest that are out of sight make room.
    mutating func show(
        key: CardKey, startedBy: Card.StartedBy, content: SlateContent, session: [UInt8]? = nil, timestamp: Int64?,
        staleDate: Int64?, getsToken: Bool, apnsID: String?, at now: WallTime, into output: inout PhoneOutput
    ) {
        let id = ActivityID(unchecked: random.uuidText(upperCase: true))
        var card = PhoneCard(
            activity: id, key: key, startedBy: startedBy, began: now, content: content,
            timestamp: timestamp ?? now.unixSeconds, getsToken: getsToken)
        card.staleDate = staleDate
        card.session = session
        if cards.count >= Self.cardsKept, let gone = cards.firstIndex(where: { $0.state == .removed }) {
            cards.remove(at: gone)
        }
        cards.append(card)
        output.events.append((now, .appeared(card, timestamp: timestamp, apnsID: apnsID)))
        schedule(.limit(id), at: now.advanced(bySeconds: options.lifeSeconds))
        if let staleDate { schedule(.stale(id), at: max(now, WallTime(seconds: staleDate))) }
        if getsToken, app != .forceQuit { scheduleToken(of: id, at: now) }
        if let seconds = profile.swipesAfter { schedule(.swipe(id), at: now.advanced(bySeconds: seconds)) }
    }

    mutating func scheduleToken(of id: ActivityID, at now: WallTime) {
        let delay = Double.random(in: options.updateTokenSeconds, using: &random)
        schedule(.token(id), at: now.advanced(bySeconds: delay))
    }

    /// Ref P10: iOS has made the update token, and the app, awake for it, reports it.
    mutating func issueToken(of id: ActivityID, at now: WallTime, into output: inout PhoneOutput) {
        guard let place = index(of: id), cards[place].isAlive, cards[place].updateToken == nil, app != .forceQuit else {
            return
        }
        let token = random.bytes(options.tokenBytes)
        cards[place].updateToken = token
        output.tokens.append(
            TokenChange(token: token, gateway: profile.gateway, change: .issued(.update, activity: id)))
        killUnfitCards(but: id, at: now, into: &output)
        reportCards(at: now, into: &output)
    }

    /// Ref P17. An appointment for a stale date that an update has moved since does nothing.
    mutating func becomeStale(_ id: ActivityID, at now: WallTime, into output: inout PhoneOutput) {
        guard let place = index(of: id), cards[place].state == .active, let date = cards[place].staleDate,
            WallTime(seconds: date) <= now
        else { return }
        cards[place].state = .stale
        output.events.append((now, .becameStale(activity: id)))
        if app == .running { reportCards(at: now, into: &output) }
    }

    /// - Parameter removeAt: when it leaves the Lock Screen; in the past: at once (ref P19).
    mutating func end(
        _ id: ActivityID, by ending: PhoneEvent.Ending, at now: WallTime, removeAt: WallTime,
        into output: inout PhoneOutput
    ) {
        guard let place = index(of: id), cards[place].isAlive else { return }
        cards[place].state = .ended
        cards[place].endedBy = ending
        output.events.append((now, .ended(activity: id, by: ending)))
        if let token = cards[place].updateToken {
            output.tokens.append(TokenChange(token: token, gateway: profile.gateway, change: .died))
        }
        if removeAt <= now {
            remove(id, bySwipe: false, at: now, into: &output)
        } else {
            schedule(.remove(id), at: removeAt)
        }
        if app == .running { reportCards(at: now, into: &output) }
    }

    mutating func remove(_ id: ActivityID, bySwipe: Bool, at now: WallTime, into output: inout PhoneOutput) {
        guard let place = index(of: id), cards[place].state != .removed else { return }
        cards[place].state = .removed
        output.events.append((now, .removed(activity: id, bySwipe: bySwipe)))
    }

    /// Ref P20: gone at once; the app learns of it at its next run.
    mutating func swipe(_ id: ActivityID, at now: WallTime, into output: inout PhoneOutput) {
        guard let place = index(of: id), cards[place].state != .removed else { return }
        if cards[place].isAlive {
            cards[place].endedBy = .swipe
            output.events.append((now, .ended(activity: id, by: .swipe)))
            if let token = cards[place].updateToken {
                output.tokens.append(TokenChange(token: token, gateway: profile.gateway, change: .died))
            }
        }
        remove(id, bySwipe: true, at: now, into: &output)
        if app == .running { reportCards(at: now, into: &output) }
    }
}
