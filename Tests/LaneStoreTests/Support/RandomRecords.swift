import CardRules

extension Seeded {
    mutating func text() -> String {
        pick(["", "Boston", "São Paulo 🏀", "\u{0}\n\"", "e\u{301}"]) + (chance() ? "\(next())" : "")
    }
    mutating func id<ID: TextIdentifier>() -> ID {
        ID(unchecked: pick(["a", "g.1:x-_", String(repeating: "z", count: 128)]).prefix(120) + "\(next() % 1000)")
    }
    mutating func time() -> WallTime {
        pick([
            .distantPast, .distantFuture, WallTime(milliseconds: 0), tenPM,
            WallTime(milliseconds: Int64(truncatingIfNeeded: next())),
        ])
    }
    mutating func number() -> Int { pick([0, 1, -1, .max, .min, Int(truncatingIfNeeded: next())]) }
    mutating func address() -> PushAddress {
        PushAddress(
            token: (0..<pick([0, 1, 32, 80, 200])).map { _ in UInt8(truncatingIfNeeded: next()) },
            gateway: pick(Gateway.allCases))
    }

    mutating func ledger() -> NightLedger {
        var ledger = NightLedger(from: time(), to: time())
        ledger.claims = number()
        ledger.keys = many { random in
            var key = NightLedger.KeyLedger(key: random.id())
            key.sent = random.number()
            key.accepted = random.number()
            key.acknowledged = random.number()
            key.lastAcceptedAt = random.some { $0.time() }
            key.isDismissed = random.chance()
            key.reissued = random.number()
            return key
        }
        ledger.withheld = many { NightLedger.Withheld(rule: $0.pick(Rule.allCases), count: $0.number()) }
        ledger.joined = many { $0.id() }
        ledger.handedOver = many { $0.id() }
        ledger.unprovenNights = number()
        ledger.hasSignOfLife = chance()
        return ledger
    }

    mutating func card() -> Card {
        var card = Card(
            key: id(), state: pick([.starting, .believed, .confirmed, .replacing, .ending]),
            startedBy: pick([.push, .app]))
        card.claimedAt = some { $0.time() }
        card.ageBegan = some { $0.time() }
        card.activity = some { $0.id() }
        card.updateAddress = some { $0.address() }
        card.tokenReportedAt = some { $0.time() }
        card.front = some { random in
            Front(
                game: random.id(), since: random.time(), wonByLift: random.chance(),
                bench: random.many { Front.Benched(game: $0.id(), at: $0.time()) }, changes: random.many { $0.time() })
        }
        card.finalGames = many { $0.id() }
        card.isNeverAdopted = chance()
        return card
    }

    mutating func weights() -> [String: Double] {
        Dictionary(many { ($0.text(), Double.random(in: -5...5, using: &$0)) }, uniquingKeysWith: { $1 })
    }

    mutating func record() -> LaneRecord {
        var record = LaneRecord(device: id(), app: id(), ledger: ledger())
        record.settings.user = some { $0.text() }
        record.settings.osVersion = some { OSVersion(major: $0.number(), minor: $0.number()) }
        record.settings.appVersion = some { $0.text() }
        record.settings.timeZone = text()
        record.settings.quietHours = QuietHours(
            fromMinute: Int.random(in: -100..<1440, using: &self), toMinute: Int.random(in: 0..<1440, using: &self))
        record.settings.spoilerFree = chance()
        record.settings.sound = chance()
        record.settings.frequentUpdates = chance()
        record.settings.personalisation = pick([
            .none, .unreadable(text()),
            .readable(Taste(teams: weights(), leagues: weights(), minimumWorth: 60.5, maxGames: number())),
        ])
        record.pushToStart = some { random in
            let handover = random.some { random in
                Handover(
                    ledger: random.ledger(), cards: random.many { $0.card() }, members: random.many { $0.id() },
                    endedActivities: random.many { $0.id() },
                    marks: random.many { random in
                        SentMark(
                            key: random.id(), fingerprint: random.some { $0.next() }, front: random.some { $0.id() },
                            timestamp: Int64(bitPattern: random.next()))
                    }, sessions: random.many { $0.member() }, successors: random.many { $0.successor() })
            }
            return PushToStart(
                address: random.some { $0.address() }, reportedAt: random.time(),
                noneReportedAt: random.some { $0.time() },
                ownership: random.pick([.claiming, .owner, .superseded(by: random.id(), owed: handover)]))
        }
        record.selection = some { random in
            Selection(
                games: random.many { $0.id() }, pinned: random.some { $0.id() }, muted: random.many { $0.id() },
                syncedAt: random.time(), arrivedAt: random.time())
        }
        record.members = many { $0.id() }
        record.deferred = some { random in
            DeferredStart(
                games: random.many { $0.id() }, rule: random.pick(Rule.allCases), until: random.some { $0.time() })
        }
        record.cards = many { $0.card() }
        record.endedActivities = many { $0.id() }
        record.owedEnds = many { random in
            OwedEnd(
                key: random.id(), activity: random.id(), address: random.address(), limit: random.time(),
                games: random.many { $0.id() })
        }
        record.isRemoved = chance()
        record.sessions = many { $0.member() }
        record.successors = many { $0.successor() }
        record.probes = many { $0.probe() }
        record.ledger.awaitsToken = chance()
        record.ledger.gone = many { $0.id() }
        return record
    }

    mutating func probe() -> ProbeCard {
        let at = time()
        return ProbeCard(
            variant: pick(ProbeVariant.allCases), gateway: pick([.production, .sandbox]),
            state: pick([.waiting(until: at), .starting(claimedAt: at), .accepted(at: at), .unknown(since: at)]),
            activity: some { $0.id() })
    }

    mutating func member() -> SessionMember {
        SessionMember(
            key: id(), version: Int64(number()), names: many { $0.id() }, isOver: chance(),
            pending: some { random in
                PendingStart(
                    rule: random.pick(Rule.allCases), until: random.some { $0.time() }, isSuccessor: random.chance())
            })
    }

    mutating func successor() -> Successor {
        var next = Successor(
            key: id(), portion: number(), claimedAt: time(),
            state: pick([.starting, .accepted, .unknown, .refused(retryAt: time())]))
        next.ageBegan = some { $0.time() }
        next.activity = some { $0.id() }
        next.updateAddress = some { $0.address() }
        next.tokenReportedAt = some { $0.time() }
        return next
    }

    mutating func session() -> Session {
        Session(
            id: id(), version: Int64(number()),
            terms: SessionTerms(
                devices: many { $0.id() }, attributesType: text(), attributes: json(), content: json(), title: text(),
                startedAt: time(), alert: some { SessionAlert(title: $0.text(), body: $0.text()) }, isUrgent: chance(),
                startedOn: many { $0.id() }),
            isRunning: chance(), stoppedAt: some { $0.time() }, urgentVersion: Int64(number()))
    }

    mutating func json(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &self) {
        case 0: .null
        case 1: .bool(chance())
        case 2: .integer(Int64(number()))
        case 3: .number(Double.random(in: -1e9...1e9, using: &self))
        case 4: .string(text())
        case 5: .array(many { $0.json(depth: depth + 1) })
        default: .object(many { JSONValue.Member(key: $0.text(), value: $0.json(depth: depth + 1)) })
        }
    }

    mutating func patched<Value>(_ make: (inout Seeded) -> Value) -> Patched<Value> {
        pick([.absent, .null, .value(make(&self))])
    }

    mutating func others() -> [String: JSONValue] {
        Dictionary(many { ($0.text(), $0.json()) }, uniquingKeysWith: { $1 })
    }

    mutating func line() -> SlateLine {
        if chance() {
            var patch = GamePatch(game: id(), at: time())
            patch.sport = patched { $0.pick([.hockey, .other("curling")]) }
            patch.league = patched { $0.text() }
            patch.home = patched { $0.text() }
            patch.away = patched { $0.text() }
            patch.startsAt = patched { $0.time() }
            patch.homeRank = patched { $0.number() }
            patch.awayRank = patched { $0.number() }
            patch.spread = patched { Double.random(in: -20...20, using: &$0) }
            patch.favourite = patched { $0.pick([.home, .away]) }
            patch.version = some { Int64($0.number()) }
            patch.others = others()
            return .game(patch)
        }
        var patch = ScorePatch(game: id(), at: time())
        patch.home = patched { $0.number() }
        patch.away = patched { $0.number() }
        patch.period = patched { $0.number() }
        patch.clock = patched { $0.text() }
        patch.phase = patched { $0.pick(Phase.allCases) }
        patch.detail = patched { $0.json() }
        patch.version = some { Int64($0.number()) }
        patch.isCorrection = chance()
        patch.others = others()
        return .score(patch)
    }
}
