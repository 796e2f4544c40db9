public import CardRules
import PushWire

/// Sessions: checked at the edge, durable before they are answered, then told to the lanes of their devices. A lane that
/// was not reached before a crash is told at the next start: the stored session is compared with the lane's own record.
extension Supervisor {
    /// Opens a session or changes it (`PUT /v1/sessions/{session}`). A repeated call changes nothing.
    ///
    /// - Parameter terms: `attributes` and `content` in any form; they are kept in their canonical one.
    public func put(_ id: CardKey, _ terms: SessionTerms) async throws(SessionFault) -> SessionOutcome {
        let terms = try checked(id, terms)
        let apps = try await apps(of: terms.devices)
        // From here to the commit nothing comes between: this actor decides what the next version is.
        let held = switchboard.sessions.newest(id)
        let session: Session
        if let held, held.isRunning {
            guard held.terms.startedAt == terms.startedAt else { throw .startedAtChanged(held: held.terms.startedAt) }
            if held.terms == terms, switchboard.sessions.durable(id) === held {
                tell(held)  // harmless, and a device that was removed and came back hears of it again
                return .unchanged
            }
            session = held.terms == terms ? held : held.changed(to: terms)
        } else {
            session = .opened(id, terms, after: held)
        }
        try checkSize(of: session, apps)
        try await keep(session)
        return held?.isRunning == true ? .changed : .opened
    }

    /// Stops a session (`DELETE /v1/sessions/{session}`): its cards are ended on every phone (E3). One that is not there,
    /// or was stopped before, stays as it is.
    ///
    /// - Parameter content: shown last, an object; `nil`: what is shown now.
    public func stop(_ id: CardKey, content: JSONValue? = nil) async throws(SessionFault) -> SessionOutcome {
        var last: JSONValue?
        if let content { last = try object(content, "/content") }
        guard let running = switchboard.sessions.newest(id), running.isRunning else { return .unchanged }
        var apps: Set<AppID> = []
        if last != nil {
            for shard in shards {
                apps.formUnion(await shard.apps(of: running.terms.devices).values)
            }
        }
        guard let held = switchboard.sessions.newest(id), held.isRunning else { return .unchanged }
        let session = held.stopped(at: environment.clock.now, content: last)
        if last != nil { try checkSize(ofEndOf: session, apps) }
        try await keep(session)
        return .stopped
    }

    /// A session as it is, running or stopped; `nil` where there is none.
    public nonisolated func session(_ id: CardKey) -> Session? { switchboard.sessions.durable(id) }

    // MARK: - Checks

    private func checked(_ id: CardKey, _ given: SessionTerms) throws(SessionFault) -> SessionTerms {
        guard id != .slate, id != .probe else { throw .reservedID }
        var terms = given
        var seen: Set<DeviceID> = []
        terms.devices = given.devices.filter { seen.insert($0).inserted }
        guard !terms.devices.isEmpty else { throw .noDevices }
        guard terms.devices.count <= SessionTerms.maxDevices else {
            throw .tooManyDevices(limit: SessionTerms.maxDevices)
        }
        for (index, device) in given.startedOn.enumerated() where !seen.contains(device) {
            throw .startedOnStranger(device, index: index)
        }
        terms.attributes = try object(given.attributes, "/attributes")
        terms.content = try object(given.content, "/content")
        try mustShow(terms.attributesType, "/attributesType")
        try mustShow(terms.title, "/title")
        if let alert = terms.alert {
            try mustShow(alert.title, "/alert/title")
            try mustShow(alert.body, "/alert/body")
        }
        return terms
    }

    private func object(_ value: JSONValue, _ field: String) throws(SessionFault) -> JSONValue {
        guard case .object = value, let canonical = value.canonical else { throw .notAnObject(field: field) }
        return canonical
    }

    private func mustShow(_ text: String, _ field: String) throws(SessionFault) {
        guard !text.allSatisfy(\.isWhitespace) else { throw .blank(field: field) }
    }

    /// The apps of the devices, all of which must be there.
    private func apps(of devices: [DeviceID]) async throws(SessionFault) -> Set<AppID> {
        var found: [DeviceID: AppID] = [:]
        for (place, shard) in shards.enumerated() {
            let own = devices.filter { partition(of: $0) % shards.count == place }
            guard !own.isEmpty else { continue }
            found.merge(await shard.apps(of: own)) { first, _ in first }
        }
        if let index = devices.firstIndex(where: { found[$0] == nil }) {
            throw .unknownDevice(devices[index], index: index)
        }
        return Set(found.values)
    }

    /// P8: the largest push that any of its apps would be sent. To blame is the larger part of it.
    private func checkSize(of session: Session, _ apps: Set<AppID>) throws(SessionFault) {
        for app in apps.sorted() {
            guard let sizes = renderers[app]?.sizes(of: session), !sizes.fits else { continue }
            throw .tooLarge(sizes, field: sizes.start - sizes.update > sizes.update ? "/attributes" : "/content")
        }
    }

    /// P8: of a session that is over nothing but its end is sent.
    private func checkSize(ofEndOf session: Session, _ apps: Set<AppID>) throws(SessionFault) {
        for app in apps.sorted() {
            guard let sizes = renderers[app]?.sizes(of: session), sizes.end > sizes.limit else { continue }
            throw .tooLarge(sizes, field: "/content")
        }
    }

    // MARK: - Keeping and telling

    private func keep(_ session: Session) async throws(SessionFault) {
        switchboard.sessions.propose(session)
        var batch = CommitBatch()
        batch.sessions = [session]
        let now = environment.clock.now
        if abs(now.seconds(since: sessionsForgottenAt)) > 3600 {
            sessionsForgottenAt = now
            let before = now.advanced(bySeconds: -sessionKeptSeconds)
            batch.forgetSessionsBefore = before
            switchboard.sessions.forget(stoppedBefore: before)
        }
        let outcome = await withCheckedContinuation { done in
            environment.store.commit(batch) { done.resume(returning: $0) }
        }
        switch outcome {
        case .landed: tell(session)
        case .failed(let error):
            switchboard.sessions.withdraw(session)
            throw .unavailable(error)
        }
    }

    /// How long a stopped session is kept: beyond the life of any card that may still owe its end.
    private var sessionKeptSeconds: Double { max(36 * 3600, 2 * tuning.life.limitSeconds) }

    private func tell(_ session: Session) {
        for device in switchboard.sessions.settle(session) {
            switchboard.deliver(DeviceCall(device: device, event: .session(session, as: nil)))
        }
    }

    // MARK: - Start-up

    func restoreSessions() async throws -> RestoredSessions {
        let rows = SessionRows()
        try await environment.store.loadSessions { rows.add($0) }
        switchboard.sessions.learn(rows.taken)
        return RestoredSessions(rows.taken)
    }

    /// R7: overdue reissues begin in order of their limits, so many a second.
    func pace(_ overdue: [OverdueReissue]) async {
        let now = environment.clock.now
        var before = 0
        for phone in overdue.sorted(by: { ($0.limit, $0.device) < ($1.limit, $1.device) }) {
            let shard = shards[partition(of: phone.device) % shards.count]
            let wait = Double(before) / tuning.reissue.perSecond
            await shard.holdReissues(of: phone.device, until: now.advanced(bySeconds: wait))
            before += phone.starts
        }
    }
}

extension LaneEvent {
    /// The session whose card the app speaks of; `nil` for the slate's, a probe's, and for all else.
    var sessionKey: CardKey? {
        let key: CardKey? =
            switch self {
            case .cardToken(let token): token.key
            case .reported(let report): report.key
            default: nil
            }
        return key == .slate || key == .probe ? nil : key
    }
}
