import CardRules

/// Records on their way to the store, and what is released when they have landed.
extension Shard {
    func commitIfDue(flushing: Bool) async {
        guard outbox.committing == nil else { return }
        if let retryAt = outbox.retryAt, environment.clock.now < retryAt { return }
        outbox.retryAt = nil
        let isLate = outbox.timelineDueAt.map { $0 <= environment.clock.now } ?? false
        guard outbox.gathering.isUrgent || isLate || (flushing && !outbox.gathering.timeline.isEmpty) else { return }
        var gathering = outbox.gathering
        outbox.gathering = Outbox.Gathering()
        for erased in gathering.erased where await !isStillToGo(erased) { gathering.erased.remove(erased) }
        var batch = CommitBatch()
        for index in gathering.lanes.sorted() where !gathering.erased.contains(where: { $0.lane == index }) {
            if let lane = standingOrFallen(index) { batch.lanes.append(await lane.stored) }
        }
        batch.removed = gathering.erased.map(\.device).sorted()
        batch.claims = gathering.claims
        batch.owners = gathering.owners
        batch.timeline = gathering.timeline
        batch.marks = gathering.marks
        batch.applied = gathering.applied
        if !isAlone { batch.epochs = tenures.mapValues(\.epoch) }
        outbox.committing = gathering
        outbox.committingSince = environment.steady?.uptime
        if batch.isEmpty {
            inbox.take(.landed(refused: RefusedRows()))
        } else {
            environment.store.commit(batch) { [inbox] outcome in inbox.take(outcome) }
        }
    }

    func settleCommit(_ outcome: CommitOutcome) async {
        guard let landed = outbox.committing else { return }
        outbox.committing = nil
        let hasDropped = outbox.hasDropped
        outbox.hasDropped = false
        switch outcome {
        case .failed(let error):
            environment.trace.record(.storeFailed(error))
            if error == .fenced, let rest = yieldFenced(landed) ?? (hasDropped ? landed : nil) {
                outbox.gathering.takeBack(rest)
                outbox.gathering.replies = rest.replies + outbox.gathering.replies
                return
            }
            for reply in landed.replies { reply.tell(.unavailable) }
            outbox.gathering.takeBack(landed)
            outbox.retryAt = environment.clock.now.advanced(bySeconds: environment.storeRetrySeconds)
        case .landed(let refused):
            let seconds = outbox.committingSince.flatMap { since in
                environment.steady.map { $0.uptime.seconds(since: since) }
            }
            environment.trace.record(.committed(rows: landed.rows, seconds: seconds))
            // One of a partition that came meanwhile may still be on its way: then later pushes wait for that (P5).
            if let mark = landed.marks.values.max(), outbox.gathering.marks.isEmpty {
                timestampMark = max(timestampMark ?? 0, mark)
            }
            for held in landed.pushes { await release(held, refused: refused) }
            for message in landed.messages { router.route(message.effect, from: message.from) }
            for erased in landed.erased.sorted(by: { $0.lane < $1.lane }) { await forget(erased) }
            for reply in landed.replies { reply.tell(.done) }
            if !landed.applied.isEmpty { environment.cluster?.applied(landed.applied.map(\.id)) }
            environment.hub.tell(landed.timeline)
        }
    }

    /// A push whose record has landed leaves, unless something has overtaken it.
    func release(_ held: Outbox.HeldPush, refused: RefusedRows) async {
        let ticket = held.push.ticket
        guard let lane = lanes[held.lane], lane.generation == ticket.generation, devices[held.lane] == ticket.device
        else {
            settle(ticket, as: .notSent)
            return
        }
        if refused.lanes.contains(ticket.device) || held.claim.map(refused.claims.contains) == true {
            // Another writer was first: it may have sent this start (L10). Spent, not repeated.
            environment.trace.record(.fenced(ticket.device))
            settle(ticket, as: .unknown)
        } else if await !lane.isCurrent(held.order) {
            settle(ticket, as: .notSent)  // A4: overtaken by what the app has said since
        } else {
            release(held.push)
        }
    }

    func settle(_ ticket: PushTicket, as verdict: Verdict) {
        inbox.take([PushAnswer(ticket: ticket, verdict: verdict)])
    }
}
