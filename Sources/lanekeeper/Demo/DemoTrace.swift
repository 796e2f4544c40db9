import CardRules
import Lanes
import Synchronization

/// Counts what the system does, for the demo's lines and its summary.
final class DemoTrace: Trace {
    struct Counts: Sendable {
        var sent: [PushEvent: Int] = [:]
        var refused: [String: Int] = [:]
        var unknown = 0
        /// Verdicts of any kind.
        var answered = 0
        /// Lanes that were killed and went on.
        var restarted = 0
        var notSent = 0
        var frontChanges = 0
        var withheld: [Rule: Int] = [:]
        var storeFailures = 0
    }

    private let state = Mutex(Counts())
    private let log: DecisionLog?
    private let byHand: @Sendable (DeviceID, TimelineEntry.Kind) -> Void

    /// - Parameters:
    ///   - log: sees what lanes decide.
    ///   - byHand: told when a lane has taken a made-up moment or a probe, whoever asked for it.
    init(log: DecisionLog? = nil, byHand: @escaping @Sendable (DeviceID, TimelineEntry.Kind) -> Void = { _, _ in }) {
        self.log = log
        self.byHand = byHand
    }

    var counts: Counts { state.withLock { $0 } }

    func record(_ event: TraceEvent) {
        if case .decided(let device, let entry) = event {
            log?.record(device, entry)
            if entry.kind == .moment || entry.kind == .probe { byHand(device, entry.kind) }
        }
        state.withLock { counts in
            if case .answered = event { counts.answered += 1 }
            switch event {
            case .sent(let event, _, _): counts.sent[event, default: 0] += 1
            case .answered(_, _, .refused(let refusal)): counts.refused[refusal.reason.word, default: 0] += 1
            case .answered(_, _, .unknown): counts.unknown += 1
            case .answered(_, _, .notSent): counts.notSent += 1
            case .answered(_, _, .accepted), .committed, .fenced, .reissued, .tickDecided, .tickAnswered,
                .parked:
                break
            case .restarted: counts.restarted += 1
            case .decided(_, let entry):
                if entry.isTakeover { counts.frontChanges += 1 }
                if entry.kind == .withheld, let rule = entry.rule { counts.withheld[rule, default: 0] += 1 }
            case .storeFailed: counts.storeFailures += 1
            }
        }
    }
}
