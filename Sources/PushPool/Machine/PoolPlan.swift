internal import CardRules
internal import Lanes

/// What the pool's decisions are made from.
struct PoolPlan: Sendable {
    struct Group: Equatable, Sendable {
        let gateway: Gateway
        let key: Int
        let keyID: String
    }

    var groups: [Group]
    /// By topic, to a group's place; tried before `anyTopic`.
    var routes: [Gateway: [String: Int]] = [:]
    var anyTopic: [Gateway: Int] = [:]
    var keys = 1
    var group = GroupState.Limits()
    var token = TokenSchedule.Limits()
    var faults = FaultBoard.Limits()
    var addresses = AddressMemory.Limits(spacing: Spacing(perSecond: 1, burst: 3))
    var perSecond = 20_000.0
    /// A push waits at most this long, and is then in flight at most this long (G6), seconds.
    var timeoutSeconds = 30.0
    /// G8: between tries on the other gateway after a run of bad tokens.
    var otherTrySeconds = 1.0
    /// How far the peer's clock may be from ours unmentioned.
    var skewSeconds: Int64 = 60

    func group(of facts: PushFacts) -> Int? { routes[facts.gateway]?[facts.topic] ?? anyTopic[facts.gateway] }
}
