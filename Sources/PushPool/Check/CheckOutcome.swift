internal import Synchronization

/// What a check came to: told by its thread before it ends, taken afterwards.
final class CheckOutcome: Sendable {
    typealias Outcome = Result<GatewayCheck.Finding, GatewayCheck.Fault>

    private let told = Mutex<Outcome?>(nil)

    func tell(_ outcome: Outcome) { told.withLock { $0 = outcome } }

    var taken: Outcome {
        told.withLock { $0 } ?? .failure(GatewayCheck.Fault(description: "the check ended without an outcome"))
    }
}
