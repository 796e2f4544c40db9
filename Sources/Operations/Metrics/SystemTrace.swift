internal import CardRules
public import Lanes
public import PushPool
internal import PushWire

/// Sees what lanes and pool do: counts it, and tells the log what an operator should hear.
public final class SystemTrace: Trace, PoolTrace {
    private let log: Log
    private let metrics: SystemMetrics

    public init(log: Log, metrics: SystemMetrics) {
        self.log = log
        self.metrics = metrics
    }

    public func record(_ event: TraceEvent) {
        switch event {
        case .sent, .answered: break  // the pool says more
        case .decided(let device, let entry): decided(device, entry)
        case .reissued(let verdict): metrics.reissues[verdict.outcome]?.add()
        case .tickDecided(let seconds): metrics.tickSeconds[.decided]?.observe(seconds)
        case .tickAnswered(let seconds): metrics.tickSeconds[.answered]?.observe(seconds)
        case .committed(let rows, let seconds):
            metrics.commitRows.observe(Double(rows))
            if let seconds { metrics.commitSeconds.observe(seconds) }
        case .storeFailed(.corrupt("lane", let key, let detail)):
            log.error(
                "a lane's row of the store does not parse: it is left alone and needs a person; the others go on",
                [.store: .text("lane \(key)"), .detail: .text(detail)])
        case .storeFailed(let error):
            metrics.commitFailures.add()
            log.error("the store could not write; it is tried again", [.detail: .text(error.words)])
        case .fenced(let device):
            metrics.fenced.add()
            log.debug("an earlier incarnation of a lane was refused", [.device: .text(device.text)])
        case .restarted(let device, let cause):
            metrics.restarts[cause]?.add()
            log.warning(
                "a lane was started again from the store",
                [.device: .text(device.text), .cause: .text(cause.rawValue)])
        case .parked(let device, let until):
            log.error(
                "a lane died too often and rests; the others go on",
                [.device: .text(device.text), .detail: .text("until \(isoTime(until))")])
        }
    }

    private func decided(_ device: DeviceID, _ entry: TimelineEntry) {
        switch entry.kind {
        case .withheld:
            if let counter = entry.rule.flatMap({ metrics.withheld[$0] }) {
                counter.add()
            } else {
                metrics.withheldOtherwise.add()
            }
        case .start where entry.rule == .l9:
            log.warning(
                "a start was accepted and never became a card",
                [.device: .text(device.text), .card: .text(entry.key?.text ?? ""), .rule: "L9"])
        case .start, .update, .end, .verdict, .token, .report, .sync, .takeover, .reissue, .probe, .moment: break
        }
        guard log.writes(.debug) else { return }
        log.debug(
            "a lane decided",
            [
                .device: .text(device.text), .card: .text(entry.key?.text ?? ""), .event: .text(entry.kind.rawValue),
                .rule: .text(entry.rule?.rawValue ?? ""), .detail: .text(entry.detail),
            ])
    }

    public func record(_ event: PoolTraceEvent) {
        switch event {
        case .queued: break
        case .written(let id, let connection):
            log.debug(
                "a push was written",
                [
                    .apnsID: .text(String(decoding: id.text, as: UTF8.self)),
                    .connection: .whole(Int(clamping: connection)),
                ])
        case .answered(let id, let verdict, let seconds):
            log.debug(
                "a push was answered",
                [
                    .apnsID: .text(String(decoding: id.text, as: UTF8.self)), .verdict: .text(verdict.words),
                    .seconds: .number(seconds),
                ])
        case .notice(let notice): tell(notice)
        }
    }

    /// The notice's own text says what to do.
    private func tell(_ notice: PoolNotice) {
        let detail = LogValue.text(notice.description)
        switch notice {
        case .misconfigured(let scope, let reason):
            log.error(
                "pushes are refused and wait: the configuration is at fault",
                [
                    .gateway: .text(scope.gateway.rawValue), .scope: .text(scope.words), .reason: .text(reason),
                    .detail: detail,
                ])
        case .gatewayInTrouble(let gateway, let status):
            log.error(
                "a gateway is in trouble; its pushes wait",
                [.gateway: .text(gateway.rawValue), .status: .whole(status), .detail: detail])
        case .healed(let scope):
            log.info("pushes go again", [.gateway: .text(scope.gateway.rawValue), .scope: .text(scope.words)])
        case .refusedPush(_, let reason, let status):
            log.error(
                "a push was refused for how it was built",
                [.reason: .text(reason), .status: .whole(status), .detail: detail])
        case .unknownTopic(_, let gateway):
            log.error(
                "no app of the configuration has this topic", [.gateway: .text(gateway.rawValue), .detail: detail])
        case .goaway(let gateway, let code, _):
            log.info(
                "a gateway closes a connection",
                [.gateway: .text(gateway.rawValue), .reason: .text(code), .detail: detail])
        case .connectionFailed(let gateway, _):
            log.warning("no connection to a gateway", [.gateway: .text(gateway.rawValue), .detail: detail])
        case .timedOut(let gateway):
            log.warning("a gateway did not answer in time", [.gateway: .text(gateway.rawValue)])
        case .clockSkew(let gateway, let seconds):
            log.warning(
                "this machine's clock is wrong",
                [.gateway: .text(gateway.rawValue), .seconds: .whole(seconds), .detail: detail])
        case .cannotSign(let keyID, _):
            log.error("a provider key cannot sign", [.key: .text(keyID), .detail: detail])
        }
    }
}

extension Verdict {
    fileprivate var outcome: SystemMetrics.ReissueOutcome {
        switch self {
        case .accepted: .accepted
        case .refused: .refused
        case .notSent: .notSent
        case .unknown: .unknown
        }
    }

    fileprivate var words: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let refusal): "refused: \(refusal.status) \(refusal.reason.word)"
        case .notSent: "not sent"
        case .unknown: "unknown"
        }
    }
}
