import CardRules
import Lanes
import Synchronization

/// Counts what the system does, for the demo's lines and its summary.
final class DemoTrace: Trace {
    struct Counts: Sendable {
        var sent: [PushEvent: Int] = [:]
        var refused: [String: Int] = [:]
        var unknown = 0
        var notSent = 0
        var frontChanges = 0
        var withheld: [Rule: Int] = [:]
        var storeFailures = 0
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func record(_ event: TraceEvent) {
        state.withLock { counts in
            switch event {
            case .sent(let event, _, _): counts.sent[event, default: 0] += 1
            case .answered(_, _, .refused(let refusal)): counts.refused[refusal.reason.word, default: 0] += 1
            case .answered(_, _, .unknown): counts.unknown += 1
            case .answered(_, _, .notSent): counts.notSent += 1
            case .answered(_, _, .accepted), .committed, .fenced: break
            case .decided(_, let entry):
                if entry.kind == .takeover, entry.rule != .t12 { counts.frontChanges += 1 }
                if entry.kind == .withheld, let rule = entry.rule { counts.withheld[rule, default: 0] += 1 }
            case .storeFailed: counts.storeFailures += 1
            }
        }
    }
}
