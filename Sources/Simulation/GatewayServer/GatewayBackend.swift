public import CardRules

/// Who answers for the tokens behind a gateway server.
public protocol GatewayBackend: Sendable {
    /// Answers one request; what it delivers has reached its phone when this returns. Called from the server's
    /// threads, one call at a time for each model. Must not block.
    func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer
}

extension PhoneFleet: GatewayBackend {
    public func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer {
        serve(request, by: &model, on: &connection, at: now, answerArrives: true)
    }
}

/// Knows every token as live, for whichever bundle the push names: for load, and for other people's clients.
/// Tokens that begin with a byte of `deadPrefix` are unknown.
public struct AnyTokenBackend: GatewayBackend {
    public let deadPrefix: UInt8?

    public init(deadPrefix: UInt8? = nil) { self.deadPrefix = deadPrefix }

    public func serve(
        _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
        at now: WallTime
    ) -> GatewayAnswer {
        model.answer(request, on: &connection, at: now) { token in
            guard deadPrefix == nil || token.first != deadPrefix else { return .unknown }
            let topic = request.headers.first { $0.name == "apns-topic" }?.value ?? ""
            return .live(bundleID: bundleID(ofTopic: topic))
        }
    }
}
