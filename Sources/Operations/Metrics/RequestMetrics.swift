internal import Synchronization

/// Requests by route, method and status. Series appear when they are first met: routes are the program's own, methods and
/// statuses are of a fixed set, and there is a bound besides.
final class RequestMetrics: Sendable {
    private struct Kind: Hashable, Sendable {
        let route: String
        let method: String
        let status: String
    }

    private struct State: Sendable {
        var counts: [Kind: Counter] = [:]
        var seconds: [String: Histogram] = [:]
    }

    private let state = Mutex(State())

    static let methods: Set<String> = ["GET", "HEAD", "PUT", "POST", "DELETE"]
    /// Those that api.md names; any other counts as its class: `2xx`, ...
    static let statuses: Set<Int> = [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503]
    static let routesAtMost = 64

    init(in registry: MetricRegistry) {
        registry.add("lanekeeper_http_requests_total", "Requests answered.", .counter) { [self] in
            let counts = state.withLock { $0.counts }
            return counts.map { kind, counter in
                .value(
                    [("method", kind.method), ("route", kind.route), ("status", kind.status)], Double(counter.value))
            }
            .sorted()
        }
        registry.add(
            "lanekeeper_http_seconds", "From a request's having been read to its answer being given.", .histogram
        ) { [self] in
            state.withLock { $0.seconds }.map { .histogram([("route", $0)], $1.reading) }.sorted()
        }
    }

    func observe(route: String?, method: String?, status: Int, seconds: Double?) {
        let (counter, histogram) = state.withLock { state -> (Counter, Histogram?) in
            var name = route ?? "none"
            if state.seconds[name] == nil {
                if state.seconds.count >= Self.routesAtMost { name = "none" }
                if state.seconds[name] == nil {
                    state.seconds[name] = Histogram(bounds: Histogram.shortSeconds, partsPerUnit: 1e9)
                }
            }
            let kind = Kind(
                route: name, method: method.flatMap { Self.methods.contains($0) ? $0 : nil } ?? "other",
                status: Self.statuses.contains(status) ? "\(status)" : "\(min(max(status / 100, 1), 5))xx")
            let counter = state.counts[kind] ?? Counter()
            state.counts[kind] = counter
            return (counter, state.seconds[name])
        }
        counter.add()
        if let seconds { histogram?.observe(seconds) }
    }
}
