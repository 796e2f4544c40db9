internal import CardRules
internal import Lanes

/// A commit on its way.
struct PendingCommit {
    let batch: CommitBatch
    let done: @Sendable (CommitOutcome) -> Void
    /// Known to the store, not yet to the server.
    var outcome: CommitOutcome?
}

/// The store: commits land in order, after a while, or not.
extension World {
    func take(_ batch: CommitBatch, _ done: @escaping @Sendable (CommitOutcome) -> Void) {
        counted += 1
        let number = counted
        commits[number] = PendingCommit(batch: batch, done: done)
        var wait = Double.random(in: 0.001...0.02, using: &random.store)
        if random.store.chance(plan.share(of: .slowStore, at: now)) {
            wait += Double.random(in: 0...5, using: &random.store)
        }
        lastLanding = max(lastLanding, now.advanced(bySeconds: wait))
        events.add(.land(number), at: lastLanding)
        for row in batch.lanes { mayDie(row.record.device) }
        if batch.startsOrEnds { mayDieSuddenly() }
    }

    func land(_ number: Int) {
        guard let commit = commits[number] else { return }
        tally.commits += 1
        note(cleared: commit.batch)
        for lane in commit.batch.lanes { trace.add(Array(lane.record.device.text.utf8)) }
        let outcome = disk.write(commit.batch)
        commits[number]?.outcome = outcome
        if case .landed = outcome {
            for row in commit.batch.lanes where unwrittenFailures[row.record.device].map({ $0 < number }) == true {
                unwrittenFailures[row.record.device] = nil
            }
        }
        // L1: what hangs on a commit waits for its outcome, however long nobody knows it.
        let isUnknown = random.store.chance(plan.share(of: .unknownCommits, at: now))
        let wait = isUnknown ? Double.random(in: 5...40, using: &random.store) : 0.001
        let heard = now.advanced(bySeconds: wait)
        if isUnknown { lastLanding = max(lastLanding, heard) }
        events.add(.answerCommit(number), at: heard)
        for row in commit.batch.lanes { mayDie(row.record.device) }
        if commit.batch.startsOrEnds { mayDieSuddenly() }
    }

    func answerCommit(_ number: Int) {
        guard let commit = commits.removeValue(forKey: number), let outcome = commit.outcome else { return }
        commit.done(outcome)
    }

    /// I7: a record that had a push-to-start token has none any more.
    private func note(cleared batch: CommitBatch) {
        for row in batch.lanes {
            guard let held = disk.lane(row.record.device), held.generation <= row.generation,
                let before = held.record.pushToStart?.address, let after = row.record.pushToStart, after.address == nil
            else { continue }
            tally.tokensCleared += 1
            fleet.serverClears(before, at: now)
        }
    }
}

extension CommitBatch {
    /// A push that starts or ends a card waits for it.
    fileprivate var startsOrEnds: Bool {
        !claims.isEmpty
            || lanes.contains { lane in
                !lane.record.owedEnds.isEmpty || lane.record.cards.contains { $0.state == .ending }
            }
    }
}
