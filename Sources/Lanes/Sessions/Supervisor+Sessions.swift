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
        for _ in 0..<Self.attempts {
            try await catchUp()
            // From here to the commit nothing comes between: this actor decides what the next version is.
            let held = switchboard.sessions.newest(id)
            let session: Session
            if let held, held.isRunning {
                guard held.terms.startedAt == terms.startedAt else {
                    throw .startedAtChanged(held: held.terms.startedAt)
                }
                if held.terms == terms, switchboard.sessions.durable(id) === held {
                    tell(held, isRepeated: true)  // a device that was removed and came back hears of it again
                    return .unchanged
                }
                session = held.terms == terms ? held : held.changed(to: terms)
            } else {
                session = .opened(id, terms, after: held)
            }
            try checkSize(of: session, apps)
            if try await keep(session) { return held?.isRunning == true ? .changed : .opened }
        }
        throw .unavailable(Self.contended)
    }

    /// Another node may change the same session at the same time: then it is read, and decided again.
    private static let attempts = 8
    private static let contended = StoreError.unavailable(detail: "other nodes change the session all the time")

    /// Stops a session (`DELETE /v1/sessions/{session}`): its cards are ended on every phone (E3). One that is not there,
    /// or was stopped before, stays as it is.
    ///
    /// - Parameter content: shown last, an object; `nil`: what is shown now.
    public func stop(_ id: CardKey, content: JSONValue? = nil) async throws(SessionFault) -> SessionOutcome {
        var last: JSONValue?
        if let content { last = try object(content, "/content") }
        for _ in 0..<Self.attempts {
            try await catchUp()
            guard let running = switchboard.sessions.newest(id), running.isRunning else { return .unchanged }
            let apps = last == nil ? [] : Set(try await appsFound(of: running.terms.devices).values)
            guard let held = switchboard.sessions.newest(id), held.isRunning else { return .unchanged }
            let session = held.stopped(at: environment.clock.now, content: last)
            if last != nil { try checkSize(ofEndOf: session, apps) }
            if try await keep(session) { return .stopped }
        }
        throw .unavailable(Self.contended)
    }

    /// What other nodes have changed.
    private func catchUp() async throws(SessionFault) {
        do { try await readSessions(tells: true) } catch { throw fault(error) }
    }

    private func fault(_ error: any Error) -> SessionFault {
        .unavailable(error as? StoreError ?? .unavailable(detail: "\(error)"))
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
        let found = try await appsFound(of: devices)
        if let index = devices.firstIndex(where: { found[$0] == nil }) {
            throw .unknownDevice(devices[index], index: index)
        }
        return Set(found.values)
    }

    private func appsFound(of devices: [DeviceID]) async throws(SessionFault) -> [DeviceID: AppID] {
        var found: [DeviceID: AppID] = [:]
        let table = switchboard.table
        let here = devices.filter { table.runs(partition(of: $0)) }
        for (place, shard) in shards.enumerated() {
            let own = here.filter { partition(of: $0) % shards.count == place }
            guard !own.isEmpty else { continue }
            found.merge(await shard.apps(of: own)) { first, _ in first }
        }
        // Not here, not there, or its partition has gone meanwhile.
        for device in devices where found[device] == nil {
            do {
                guard let state = try await look(at: device), !state.kept.isRemoved else { continue }
                found[device] = state.kept.app
            } catch {
                throw fault(error)
            }
        }
        return found
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

    /// - Returns: `false` where another node has changed it meanwhile.
    private func keep(_ session: Session) async throws(SessionFault) -> Bool {
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
        case .landed(let refused) where refused.sessions.contains(session.id):
            switchboard.sessions.withdraw(session)
            return false
        case .landed:
            tell(session)
            environment.cluster?.announce(.sessions)
            return true
        case .failed(let error):
            switchboard.sessions.withdraw(session)
            throw .unavailable(error)
        }
    }

    /// How long a stopped session is kept: beyond the life of any card that may still owe its end.
    private var sessionKeptSeconds: Double { max(36 * 3600, 2 * tuning.life.limitSeconds) }

    /// - Parameter isRepeated: lanes of other nodes are told too; else their nodes tell them.
    private func tell(_ session: Session, isRepeated: Bool = false) {
        for device in switchboard.sessions.settle(session) {
            if isRepeated, switchboard.ownInbox(of: device) == nil {
                let content = PostedEvent.Content.session(session.id, as: nil)
                environment.cluster?.post(PostedEvent(device: device, app: nil, content: content), hear: nil)
            } else {
                switchboard.deliver(DeviceCall(device: device, event: .session(session, as: nil)))
            }
        }
    }

    /// Another node, or this one, has changed it.
    func hear(of session: Session) {
        guard session.version > switchboard.sessions.durable(session.id)?.version ?? .min else { return }
        tell(session)
    }

    // MARK: - Start-up

    func restoreSessions() async throws {
        let rows = SessionRows()
        try await environment.store.loadSessions { rows.add($0) }
        switchboard.sessions.learn(rows.taken)
    }

    /// R7: overdue reissues begin in order of their limits, so many a second.
    func pace(_ overdue: [OverdueReissue]) async {
        guard !overdue.isEmpty else { return }
        // Partitions that come one after the other, or at once, share the pace: the time is taken before anything is awaited.
        let now = max(environment.clock.now, pacedUntil)
        let rate = tuning.reissue.perSecond
        pacedUntil = now.advanced(bySeconds: Double(overdue.reduce(0) { $0 + $1.starts }) / rate)
        var before = 0
        for phone in overdue.sorted(by: { ($0.limit, $0.device) < ($1.limit, $1.device) }) {
            let shard = shards[partition(of: phone.device) % shards.count]
            let wait = Double(before) / rate
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
