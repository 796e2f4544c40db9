internal import CardRules
internal import Lanes
internal import WebServer

/// What people and consoles read.
extension APIHandler {
    func answerDevice(_ request: ParkedRequest) async {
        guard let device = request.match.values.device else { return }
        guard let state = await stateOrAnswer(device, request) else { return }
        guard !state.kept.isRemoved else { return request.answer(Problem(404, "there is no device \(device)")) }
        let view = DeviceView(
            state: state, slate: await supervisor.snapshot, tuning: await supervisor.tuning, now: clock.now,
            why: await why(of: state))
        request.answer(json: JSONBuilder.object { json in view.write(&json) })
    }

    /// The device on whatever node; answers where there is none, or nobody can tell.
    private func stateOrAnswer(_ device: DeviceID, _ request: ParkedRequest) async -> LaneState? {
        do {
            if let state = try await supervisor.look(at: device) { return state }
            request.answer(Problem(404, "there is no device \(device)"))
        } catch StoreError.corrupt(let table, let key, let detail) {
            request.answer(.tryAgain("\(table) \(key) of the store does not parse: \(detail)"))
        } catch {
            request.answer(.tryAgain("the store cannot be read now"))
        }
        return nil
    }

    /// The rule that decided last about each card key. What the lane does not know any more since a restart, the timeline
    /// does.
    private func why(of state: LaneState) async -> [CardKey: TimelineEntry] {
        let why = state.why
        let keys = Set(state.kept.cards.map(\.key) + state.kept.sessions.map(\.key) + [.slate])
        guard keys.contains(where: { why[$0] == nil }) else { return why }
        let rows = try? await timeline.timeline(device: state.kept.device, after: nil, limit: 200)
        let told = TimelineEntry.lastDecisions(in: (rows ?? []).reversed().map(\.row.entry))
        return told.filter { keys.contains($0.key) }.merging(why) { _, own in own }
    }

    func answerTimeline(_ request: ParkedRequest) async {
        guard let device = request.match.values.device else { return }
        guard await stateOrAnswer(device, request) != nil else { return }
        let after = request.query.after
        do {
            let rows = try await timeline.timeline(device: device, after: after, limit: request.query.limit ?? 100)
            request.answer(
                json: JSONBuilder.object { json in
                    json.array("entries", rows) { json, row in json.object { row.write(&$0, withDevice: false) } }
                    json.member("next", rows.last?.sequence ?? after ?? 0)
                })
        } catch {
            request.answer(.tryAgain("the store cannot be read now"))
        }
    }

    func beginEvents(_ request: ParkedRequest) async {
        if let device = request.query.device {
            guard await stateOrAnswer(device, request) != nil else { return }
        }
        let headers: WebHeaders = [
            ("Content-Type", MediaType.events.rawValue), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
        ]
        // A question about the stream is answered without one.
        guard request.request.head.method != "HEAD" else { return request.answer(status: 200, headers: headers) }
        guard !events.isFull else { return request.answer(.fullOfStreams) }
        do {
            let newest = try await timeline.timeline(device: nil, after: nil, limit: 1).last?.sequence ?? 0
            // A place ahead of the newest is one of an earlier store: waiting for it would be silence.
            let after = min(request.query.after ?? newest, newest)
            let hasRoom = events.join(device: request.query.device, after: after) { closed in
                request.stream(headers, closed: closed)
            }
            if !hasRoom { request.answer(.fullOfStreams) }
        } catch {
            request.answer(.tryAgain("the store cannot be read now"))
        }
    }

    func answerMetrics(_ request: ParkedRequest) async {
        let text = await backend.metrics()
        request.answer(
            WebAnswer(status: 200, headers: [("Content-Type", MediaType.prometheus.rawValue)], body: text))
    }
}

extension ParkedRequest {
    func answerReadiness(_ readiness: APIReadiness) {
        guard readiness.reasons.isEmpty else {
            var problem = Problem.tryAgain(readiness.reasons.joined(separator: "; "))
            problem.extra = [("reasons", .array(readiness.reasons.map { .string($0) }))]
            return answer(problem)
        }
        answer(json: JSONBuilder.object { $0.member("status", "ready") })
    }
}

extension Problem {
    fileprivate static var fullOfStreams: Problem {
        .tryAgain("as many event streams are open as may be", afterSeconds: 5)
    }
}
