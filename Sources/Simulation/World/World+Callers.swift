internal import CardRules
internal import Lanes

/// Where a session of the plan stands with its caller.
struct SessionStage {
    var isWanted = false
    var isOpen = false
    var isToStop = false
    var isStopped = false
    private(set) var isCalling = false

    static let planned = SessionStage()

    mutating func calls() { isCalling = true }
    mutating func forgetCall() { isCalling = false }
}

/// Whoever posts ticks and opens sessions: each says the same again until it is answered.
extension World {
    // MARK: The feed

    func postTick() {
        guard !isTickPosted, nextTick < feed.ticks.count, feed.ticks[nextTick].at <= now else { return }
        guard let server, server.stage == .up else { return }  // the next one asks for it when it is up
        let (place, lines) = (nextTick, feed.ticks[nextTick].lines)
        let ports = server.ports
        // Posted again to the same process it is a repetition, to another one it is news.
        if place != told.tick || incarnation == told.incarnation {
            fleet.withJudge { judge in for line in lines { judge.sees(line, at: now) } }
        }
        told = (place, incarnation)
        isTickPosted = true
        server.order { supervisor in
            do throws(StoreError) {
                try await supervisor.tick(lines)
                ports.add(.done(.ticked(place, nil)))
            } catch { ports.add(.done(.ticked(place, error))) }
        }
    }

    func ticked(_ place: Int, _ fault: StoreError?) {
        guard place == nextTick, isTickPosted else { return }
        isTickPosted = false
        guard fault == nil else { return events.add(.feed, at: now.advanced(bySeconds: 1)) }
        fleet.withJudge { $0.slateIsKept(at: now) }
        nextTick += 1
        guard nextTick < feed.ticks.count else { return }
        events.add(.feed, at: max(now, feed.ticks[nextTick].at))
    }

    // MARK: Sessions

    func openSession(_ place: Int) {
        sessionStages[place].isWanted = true
        let stage = sessionStages[place]
        guard !stage.isOpen, !stage.isToStop, !stage.isCalling else { return }
        guard let server, server.stage == .up else { return again(.openSession(place)) }
        let (id, terms, ports) = (sessions[place].id, sessions[place].terms, server.ports)
        sessionStages[place].calls()
        server.order { supervisor in
            do throws(SessionFault) {
                _ = try await supervisor.put(id, terms)
                ports.add(.done(.opened(place, nil)))
            } catch { ports.add(.done(.opened(place, error))) }
        }
        again(.openSession(place))
    }

    func opened(_ place: Int, _ fault: SessionFault?) {
        sessionStages[place].forgetCall()
        guard fault == nil else { return }
        sessionStages[place].isOpen = true
        let devices = sessions[place].devices.compactMap { phoneOf[$0] }
        fleet.withJudge { $0.sessionOpens(sessions[place].id, phones: devices, at: now) }
    }

    func stopSession(_ place: Int) {
        sessionStages[place].isToStop = true
        let stage = sessionStages[place]
        guard !stage.isStopped else { return }
        guard !stage.isCalling else { return again(.stopSession(place)) }
        guard let server, server.stage == .up else { return again(.stopSession(place)) }
        let (id, ports) = (sessions[place].id, server.ports)
        sessionStages[place].calls()
        server.order { supervisor in
            do throws(SessionFault) {
                _ = try await supervisor.stop(id)
                ports.add(.done(.stopped(place, nil)))
            } catch { ports.add(.done(.stopped(place, error))) }
        }
        again(.stopSession(place))
    }

    func stopped(_ place: Int, _ fault: SessionFault?) {
        sessionStages[place].forgetCall()
        guard fault == nil else { return }
        sessionStages[place].isStopped = true
        fleet.withJudge { $0.sessionStops(sessions[place].id, at: now) }
    }

    private func again(_ event: WorldEvent) { events.add(event, at: now.advanced(bySeconds: 60)) }
}
