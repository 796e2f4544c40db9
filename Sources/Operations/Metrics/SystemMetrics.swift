internal import CardRules
public import Lanes
public import PushPool

/// The metrics of api.md, each declared once. Names begin with `lanekeeper_`, units are base units.
public final class SystemMetrics: Sendable {
    public let registry: MetricRegistry

    let withheld: [Rule: Counter]
    let withheldOtherwise: Counter
    let restarts: [RestartCause: Counter]
    let reissues: [ReissueOutcome: Counter]
    let commitSeconds: Histogram
    let commitRows: Histogram
    let commitFailures: Counter
    let tickSeconds: [TickStage: Histogram]
    private let requests: RequestMetrics
    let fenced: Counter

    enum ReissueOutcome: String, CaseIterable, Sendable {
        case accepted, refused
        case notSent = "not sent"
        case unknown
    }
    enum TickStage: String, CaseIterable, Sendable { case decided, answered }

    /// - Parameter version: of the program.
    public init(version: String, registry: MetricRegistry = MetricRegistry()) {
        self.registry = registry
        registry.add("lanekeeper_build_info", "The program's version, as a label of a constant 1.", .gauge) {
            [.value([("version", version)], 1)]
        }
        let counted = Rule.allCases.filter { $0.rawValue.hasPrefix("S") }
        let (withheld, otherwise) = (counted.map { ($0, Counter()) }, Counter())
        registry.add(
            "lanekeeper_starts_withheld_total", "Starts that were not sent, by the rule that held them back.", .counter
        ) {
            withheld.map { .value([("rule", $0.rawValue)], Double($1.value)) }
                + [.value([("rule", "other")], Double(otherwise.value))]
        }
        self.withheld = Dictionary(uniqueKeysWithValues: withheld)
        withheldOtherwise = otherwise
        restarts = registry.counters(
            "lanekeeper_lane_restarts_total", "Lanes that were started again from the store.", label: "cause",
            over: RestartCause.allCases, { $0.rawValue })
        fenced = registry.counter(
            "lanekeeper_lane_fenced_total", "What came from an earlier incarnation of a lane, and was refused.")
        reissues = registry.counters(
            "lanekeeper_reissues_total",
            "What became of starts that replace a card, or follow one that had to end.", label: "outcome",
            over: ReissueOutcome.allCases, { $0.rawValue })
        commitSeconds = registry.histogram(
            "lanekeeper_store_commit_seconds", "From a batch's being handed to the store to its being durable.",
            bounds: Histogram.shortSeconds, partsPerUnit: 1e9)
        commitRows = registry.histogram(
            "lanekeeper_store_commit_rows", "Rows of a batch.", bounds: Histogram.rows, partsPerUnit: 1)
        commitFailures = registry.counter(
            "lanekeeper_store_commit_failures_total", "Batches that the store could not write.")
        tickSeconds = registry.histograms(
            "lanekeeper_tick_seconds",
            "From a tick's being received to the last lane having decided, and to the last of its pushes being answered.",
            bounds: Histogram.longSeconds, partsPerUnit: 1e9, label: "stage", over: TickStage.allCases, { $0.rawValue })
        requests = RequestMetrics(in: registry)
    }

    /// A request was answered.
    /// - Parameters:
    ///   - route: of the program's own table, such as `/v1/devices/{device}`; `nil` for a path that is none.
    ///   - seconds: `nil` where nothing was waited for.
    public func observe(route: String?, method: String?, status: Int, seconds: Double?) {
        requests.observe(route: route, method: method, status: status, seconds: seconds)
    }

    // MARK: - What is looked at when it is asked for

    /// How many partitions this node runs.
    public func watch(leasesOwned count: @escaping @Sendable () -> Int) {
        registry.add("lanekeeper_lease_owned", "Partitions that this node runs.", .gauge) {
            [.value([], Double(count()))]
        }
    }

    /// The metrics of pushes.
    public func watch(pool snapshot: @escaping @Sendable () -> PoolSnapshot) {
        registry.add(
            "lanekeeper_pushes_total", "What became of pushes; status and reason are APNs' own words.", .counter
        ) {
            pushCounts(snapshot().outcomes).sorted()
        }
        registry.add("lanekeeper_push_seconds", "From a push's being handed to the pool to its answer.", .histogram) {
            let seconds = snapshot().seconds
            return [
                .histogram(
                    [],
                    Histogram.Reading(
                        bounds: PoolSnapshot.Histogram.bounds, counts: seconds.counts, sum: seconds.sum))
            ]
        }
        registry.add("lanekeeper_pushes_in_flight", "Pushes written and not answered.", .gauge) {
            [.value([], Double(snapshot().inFlight))]
        }
        registry.add("lanekeeper_pushes_waiting", "Pushes that wait to be written.", .gauge) {
            [.value([], Double(snapshot().waiting))]
        }
        registry.add("lanekeeper_apns_connections", "Connections to APNs.", .gauge) {
            let now = snapshot().connections
            return Gateway.allCases.flatMap { gateway in
                PoolSnapshot.ConnectionPhase.allCases.map { state in
                    .value(
                        [("gateway", gateway.rawValue), ("state", state.rawValue)],
                        Double(now.first { $0.key.gateway == gateway && $0.key.state == state }?.value ?? 0))
                }
            }
        }
        registry.add("lanekeeper_apns_rate_limit", "Pushes a second that may go to a gateway.", .gauge) {
            snapshot().ratePerSecond.map { .value([("gateway", $0.rawValue)], $1) }.sorted()
        }
        registry.add("lanekeeper_apns_paused", "1 while a gateway is paused.", .gauge) {
            let paused = snapshot().paused
            return Gateway.allCases.map { .value([("gateway", $0.rawValue)], paused.contains($0) ? 1 : 0) }
        }
        registry.add(
            "lanekeeper_apns_clock_skew_seconds", "How far this machine's clock is ahead of the gateway's.", .gauge
        ) {
            snapshot().clockSkewSeconds.map { .value([("gateway", $0.rawValue)], Double($1)) }.sorted()
        }
        registry.add("lanekeeper_apns_held", "Scopes that wait for a probe after faults in a row (G3, G5).", .gauge) {
            [.value([], Double(snapshot().held.count))]
        }
    }

    /// The metrics of lanes and cards.
    public func watch(lanes gauges: @escaping @Sendable () async -> Gauges?) {
        let shared = SharedReading(gauges)
        registry.add("lanekeeper_lanes", "Lanes of this node, by how they stand.", .gauge) {
            await shared.read()?.lanes.map { .value([("state", $0.rawValue)], Double($1)) }.sorted() ?? []
        }
        registry.add("lanekeeper_cards", "Cards by what the server believes of them.", .gauge) {
            guard let cards = await shared.last()?.cards else { return [] }
            return Card.Programme.allCases.flatMap { programme in
                Card.State.allCases.map { state in
                    .value(
                        [("programme", programme.rawValue), ("state", state.rawValue)],
                        Double(cards[Gauges.CardKind(programme: programme, state: state)] ?? 0))
                }
            }
        }
        for (name, help, value) in SystemMetrics.numbers {
            registry.add(name, help, .gauge) { await shared.last().map { [.value([], value($0))] } ?? [] }
        }
    }

    private static let numbers: [(String, String, @Sendable (Gauges) -> Double)] = [
        (
            "lanekeeper_timers_overdue_seconds", "How late the oldest deadline that is due is.",
            { $0.timersOverdueSeconds }
        ),
        (
            "lanekeeper_cards_never_adopted", "Cards whose start was accepted and of which no phone has told (L9).",
            { Double($0.neverAdopted) }
        ),
        (
            "lanekeeper_calls_waiting", "Calls that wait for their turn, or for their record to be durable.",
            { Double($0.callsWaiting) }
        ),
        ("lanekeeper_event_streams", "Followers of timelines.", { Double($0.followers) }),
    ]
}

/// Accepted pushes are there from the start, at none: a counter that begins at 1 hides its first push from rates.
private func pushCounts(_ outcomes: [PoolSnapshot.Outcome: Int]) -> [MetricSample] {
    var samples: [MetricSample] = []
    func add(_ event: PushEvent, _ gateway: Gateway, _ status: Int?, _ reason: String?, _ count: Int) {
        let labels: [(name: String, value: String)] = [
            ("event", event.rawValue), ("gateway", gateway.rawValue), ("status", status.map { "\($0)" } ?? ""),
            ("reason", reason ?? ""),
        ]
        samples.append(.value(labels, Double(count)))
    }
    for (outcome, count) in outcomes {
        add(outcome.event, outcome.gateway, outcome.status, outcome.reason, count)
    }
    for event in PushEvent.allCases {
        for gateway in Gateway.allCases
        where !outcomes.keys.contains(where: { $0.event == event && $0.gateway == gateway && $0.status == 200 }) {
            add(event, gateway, 200, nil, 0)
        }
    }
    return samples
}

/// One look at the lanes serves all families of a scrape.
private actor SharedReading {
    private let look: @Sendable () async -> Gauges?
    private var held: Gauges?

    init(_ look: @escaping @Sendable () async -> Gauges?) { self.look = look }

    func read() async -> Gauges? {
        held = await look()
        return held
    }

    func last() -> Gauges? { held }
}

extension [MetricSample] {
    /// By their labels, so that two scrapes have one order.
    func sorted() -> [MetricSample] {
        func key(_ sample: MetricSample) -> String {
            switch sample {
            case .value(let labels, _), .histogram(let labels, _): labels.map(\.value).joined(separator: "\u{0}")
            }
        }
        return sorted { key($0) < key($1) }
    }
}
