internal import CardRules
internal import WebServer

/// The variable segments of a path, read.
struct PathValues: Sendable {
    var device: DeviceID?
    /// `{key}` or `{session}`.
    var key: CardKey?
    var gateway: Gateway?
}

/// A route found for a request.
struct RouteMatch: Sendable {
    let route: Route
    let values: PathValues
}

/// What a request line comes to.
enum RouteAnswer: Sendable {
    case found(RouteMatch)
    /// No call has this path.
    case unknownPath
    /// Calls have it, with these methods.
    case wrongMethod(allowed: [String])
}

/// Finds routes by the head of a request.
struct RouteTable: Sendable {
    let routes: [Route]

    /// HEAD is answered wherever GET is (RFC 9110, 9.3.2).
    func find(_ head: WebRequestHead) -> RouteAnswer {
        var allowed: [String] = []
        for route in routes {
            guard let values = route.values(of: head.path) else { continue }
            if route.method.rawValue == head.method || (route.method == .get && head.method == "HEAD") {
                return .found(RouteMatch(route: route, values: values))
            }
            allowed.append(route.method.rawValue)
            if route.method == .get { allowed.append("HEAD") }
        }
        return allowed.isEmpty ? .unknownPath : .wrongMethod(allowed: allowed)
    }
}

extension Route {
    /// - Returns: `nil` where the path is another one.
    fileprivate func values(of segments: [String]) -> PathValues? {
        guard segments.count == path.count else { return nil }
        var values = PathValues()
        for (part, segment) in zip(path, segments) {
            switch part {
            case .literal(let text): guard text == segment else { return nil }
            case .parameter(.device):
                guard let device = DeviceID(segment) else { return nil }
                values.device = device
            case .parameter(.key), .parameter(.session):
                guard let key = CardKey(segment) else { return nil }
                values.key = key
            case .parameter(.gateway):
                guard let gateway = Gateway(rawValue: segment) else { return nil }
                values.gateway = gateway
            }
        }
        return values
    }
}
