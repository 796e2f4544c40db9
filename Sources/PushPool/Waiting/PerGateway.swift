internal import CardRules

/// One value for each gateway, without a dictionary: looked at for every push.
struct PerGateway<Value: Sendable>: Sendable {
    private var production: Value
    private var sandbox: Value

    init(_ value: Value) { (production, sandbox) = (value, value) }

    subscript(gateway: Gateway) -> Value {
        _read {
            switch gateway {
            case .production: yield production
            case .sandbox: yield sandbox
            }
        }
        _modify {
            switch gateway {
            case .production: yield &production
            case .sandbox: yield &sandbox
            }
        }
    }
}
