internal import CardRules

/// One value for each gateway, without a dictionary: looked at for every push, hence no coroutine for reading (its frame
/// would be on the heap).
struct PerGateway<Value: Sendable>: Sendable {
    private var production: Value
    private var sandbox: Value

    init(_ value: Value) { (production, sandbox) = (value, value) }

    subscript(gateway: Gateway) -> Value {
        @inline(__always) get {
            switch gateway {
            case .production: production
            case .sandbox: sandbox
            }
        }
        @inline(__always) _modify {
            switch gateway {
            case .production: yield &production
            case .sandbox: yield &sandbox
            }
        }
    }
}
