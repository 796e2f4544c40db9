extension Refusal {
    /// What the sender may do. The reason decides; where its word is unlisted the status still tells whose trouble it
    /// is (G5: a 5xx is the gateway's, a 429 the token's). An unlisted 4xx clears nothing (G3).
    public var nextStep: NextStep {
        guard case .unlisted = reason else { return reason.nextStep }
        return switch status {
        case 500...599: .holdGateway
        case 429: .holdToken
        default: .reportToOperator(.push)
        }
    }
}
