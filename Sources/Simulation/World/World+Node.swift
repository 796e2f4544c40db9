internal import CardRules
internal import Lanes
internal import PushWire

/// The server's processes and lanes: how they begin, end, and die.
extension World {
    func boot() {
        server = ServerProcess(
            options: options, tuning: tuning, disk: disk, clock: clock, executor: executor, zone: zone,
            random: &random.node)
    }

    /// It has read everything back.
    func isUp() {
        guard let server else { return }
        server.stage = .up
        server.wakes = nil
        if incarnation > 0 { fleet.withJudge { $0.serverRestarts(at: now) } }
        tellAll("process \(incarnation) is up")
        events.add(.feed, at: now)
        for phone in phones.indices where phones[phone].isWaiting { events.add(.call(phone), at: soon(&random.phones)) }
    }

    /// SIGKILL: nothing that it had asked for and nobody has done yet is done, but what is on the wire or with the store
    /// already, by chance.
    func crash() {
        guard let server else { return }
        tally.processDeaths += 1
        tellAll("process \(incarnation) ends")
        server.die()
        self.server = nil
        incarnation += 1
        // The store has its commits in order: it may have landed some of them that nobody heard of.
        var lands = true
        for (_, commit) in commits.sorted(by: { $0.key < $1.key }) {
            if commit.outcome == nil {
                lands = lands && random.store.chance(0.5)
                if lands { _ = disk.write(commit.batch) }
            }
            for claim in commit.batch.claims { spends(claim.device) }
            commit.done(.failed(.unavailable(detail: "the process is gone")))
        }
        commits = [:]
        for device in unwrittenFailures.keys { spends(device) }
        unwrittenFailures = [:]
        for (number, push) in pushes.sorted(by: { $0.key < $1.key }) {
            if push.hasArrived {
                if push.push.request.event == .start, push.verdict?.isFailure ?? true {
                    spends(push.push.ticket.device)
                }
                pushes[number] = nil
            } else if push.isWaiting || random.gateway.chance(0.5) {
                if push.push.request.event == .start { spends(push.push.ticket.device) }
                pushes[number] = nil
            } else {
                // On the wire: it arrives, and the answer finds nobody.
                pushes[number]?.isOrphan = true
            }
        }
        for gateway in Gateway.allCases { gateways[gateway]?.forgetClient() }
        isTickPosted = false
        for place in sessionStages.indices { sessionStages[place].forgetCall() }
        for phone in phones.indices { phones[phone].forgetCall() }
        executor.drain()
    }

    /// L10: a start may be spent that never left.
    func spends(_ device: DeviceID) {
        guard let phone = phoneOf[device] else { return }
        fleet.withJudge { $0.laneRestarts(ofPhone: phone, at: now) }
    }

    func restart(after seconds: Double) {
        crash()
        events.add(.boot(incarnation), at: now.advanced(bySeconds: seconds))
    }

    /// SIGTERM: no more calls; what is under way is finished and written, for half a minute at most.
    func stopInOrder() {
        guard let server, server.stage == .up else { return }
        tally.deploys += 1
        server.stage = .stopping
        let ports = server.ports
        server.order { supervisor in
            await supervisor.flush()
            ports.add(.done(.flushed))
        }
        events.add(.stopGivesUp(incarnation), at: now.advanced(bySeconds: 30))
    }

    func kill(_ device: DeviceID, again: Bool) {
        guard let server, server.stage == .up else { return }
        tally.laneKills += 1
        tell(phoneOf[device], "\(device): its lane is killed")
        server.order { _ = try? await $0.kill(device) }
        if again { events.add(.kill(device, again: false), at: now.advanced(bySeconds: 0.001)) }
    }

    /// Now and then a lane dies when it has just asked for something.
    func mayDie(_ device: DeviceID) {
        guard random.node.chance(plan.share(of: .laneDeaths, at: now)) else { return }
        let wait = random.node.chance(0.5) ? 0 : Double.random(in: 0...0.2, using: &random.node)
        events.add(.kill(device, again: random.node.chance(0.2)), at: now.advanced(bySeconds: wait))
    }

    /// Now and then the process dies at the instant, or a little after it, at which a start or an end is half done; as often
    /// among many phones as among few.
    func mayDieSuddenly() {
        let share = plan.share(of: .suddenDeaths, at: now) * min(1, 40 / Double(phones.count))
        guard random.node.chance(share) else { return }
        let wait = random.node.chance(0.5) ? 0 : Double.random(in: 0...0.05, using: &random.node)
        events.add(.die(incarnation), at: now.advanced(bySeconds: wait))
    }

    func dieSuddenly() {
        guard server != nil else { return }
        restart(after: Double.random(in: 0.5...20, using: &random.node))
    }

    func begins(_ episode: FaultPlan.Episode) {
        trace.add(Int64(bitPattern: episode.draw))
        switch episode.kind {
        case .outage, .serverErrors, .throttling:
            gateways[episode.gateway]?.troubles.append(episode.kind)
        case .wrongTopic: for gateway in Gateway.allCases { gateways[gateway]?.troubles.append(.wrongTopic) }
        case .offline: setOffline(true, phone: Int(episode.draw % UInt64(max(1, phones.count))))
        case .refusingStore: disk.fail(with: .unavailable(detail: "the store is away"))
        case .shardDeaths:
            let part = episode.draw % 4
            for (device, _) in phoneOf.sorted(by: { $0.key < $1.key }) where UInt64(partition(of: device)) % 4 == part {
                kill(device, again: false)
            }
        case .processDeaths:
            if server != nil { restart(after: episode.until.seconds(since: episode.from)) }
        case .deploys: stopInOrder()
        case .clockSteps: step(bySeconds: World.step(of: episode))
        case .pauses: operate(pausing: true, episode.gateway)
        case .retuning:
            tuning.takeover.marginPoints = 4
            tuning.updates.gapSeconds = 30
            retune()
        default: break
        }
    }

    func ends(_ episode: FaultPlan.Episode) {
        switch episode.kind {
        case .outage, .serverErrors, .throttling: gateways[episode.gateway]?.end(episode.kind)
        case .wrongTopic: for gateway in Gateway.allCases { gateways[gateway]?.end(.wrongTopic) }
        case .offline: setOffline(false, phone: Int(episode.draw % UInt64(max(1, phones.count))))
        case .refusingStore: disk.fail(with: nil)
        case .clockSteps: step(bySeconds: -World.step(of: episode))
        case .pauses: operate(pausing: false, episode.gateway)
        case .retuning:
            tuning.takeover.marginPoints = options.tuning.takeover.marginPoints
            tuning.updates.gapSeconds = options.tuning.updates.gapSeconds
            retune()
        default: break
        }
    }

    private static func step(of episode: FaultPlan.Episode) -> Double {
        (episode.draw & 1 == 0 ? 1 : -1) * (1 + Double(episode.draw >> 8 % 1000) / 1000 * (mostStepSeconds / 3 - 1))
    }

    /// Somebody sets the server's clock.
    private func step(bySeconds seconds: Double) {
        clock.step(bySeconds: seconds)
        server?.order { await $0.passTime() }
    }

    private func retune() {
        let tuning = tuning
        server?.order { await $0.retune(tuning) }
    }

    /// An operator wants it so, and says so until it is.
    private func operate(pausing: Bool, _ gateway: Gateway) {
        gateways[gateway]?.isToBePaused = pausing
        operate(gateway)
    }

    func operate(_ gateway: Gateway) {
        guard let state = gateways[gateway], state.isPaused != state.isToBePaused else { return }
        let pausing = state.isToBePaused
        if let server, server.stage == .up {
            server.order { supervisor in
                if pausing { try? await supervisor.pause(gateway) } else { try? await supervisor.resume(gateway) }
            }
        }
        events.add(.operate(gateway), at: now.advanced(bySeconds: 5))
    }

    /// A moment later, a different one each time.
    func soon(_ generator: inout SeededGenerator, upTo seconds: Double = 0.2) -> WallTime {
        now.advanced(bySeconds: Double.random(in: 0.001...max(0.002, seconds), using: &generator))
    }
}

extension FaultPlan.Episode {
    var gateway: Gateway { draw % 4 == 0 ? .sandbox : .production }
}
