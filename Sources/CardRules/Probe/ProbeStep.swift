/// What became of one of a probe's starts, or of all that were still to come: beside the sentence of a timeline entry, for
/// programs.
public struct ProbeStep: Hashable, Sendable {
    /// Which start; `nil`: all that had not been sent.
    public let variant: ProbeVariant?
    public let event: Event

    public enum Event: String, Hashable, Sendable, CaseIterable {
        /// It is on its way to the gateway (P1).
        case sent
        /// The gateway took it (L2).
        case accepted
        /// The gateway refused it: nothing more comes.
        case refused
        /// It never left: nothing more comes.
        case notSent
        /// It may or may not have come to the phone (L2).
        case unknown
        /// Its card stands and has its update token; the card is ended (R3).
        case token
        /// The app reported its card opened (S14).
        case opened
        /// The app reported its card stale.
        case stale
        /// The app reported its card ended: nothing more comes.
        case ended
        /// The app reported its card dismissed: nothing more comes.
        case dismissed
        /// Nobody told of its card in time (L9): nothing more comes.
        case unseen
        /// As many cards stand as may (S13): it is left out.
        case skipped
        /// What had not been sent is given up.
        case dropped
    }

    public init(variant: ProbeVariant?, event: Event) {
        self.variant = variant
        self.event = event
    }
}

extension ProbeStep.Event {
    init(_ verdict: Verdict) {
        switch verdict {
        case .accepted: self = .accepted
        case .refused: self = .refused
        case .notSent: self = .notSent
        case .unknown: self = .unknown
        }
    }

    init(_ report: CardReport.Kind) {
        switch report {
        case .ended: self = .ended
        case .dismissed: self = .dismissed
        case .opened: self = .opened
        case .stale: self = .stale
        }
    }
}
