internal import Synchronization

/// All metrics of the daemon, and their text for Prometheus.
///
/// Every family is declared at the start, with all its label values: nothing that comes from outside makes a series.
public final class MetricRegistry: Sendable {
    private let families = Mutex<[MetricFamily]>([])

    public init() {}

    public func counter(_ name: String, _ help: String) -> Counter {
        let counter = Counter()
        add(name, help, .counter) { [.value([], Double(counter.value))] }
        return counter
    }

    /// A counter for each value of one label.
    public func counters<Label: Hashable & Sendable>(
        _ name: String, _ help: String, label: String, over values: some Sequence<Label>,
        _ text: @escaping @Sendable (Label) -> String
    ) -> [Label: Counter] {
        let pairs = values.map { ($0, Counter()) }
        add(name, help, .counter) { pairs.map { .value([(label, text($0))], Double($1.value)) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    public func gauge(_ name: String, _ help: String) -> Gauge {
        let gauge = Gauge()
        add(name, help, .gauge) { [.value([], gauge.value)] }
        return gauge
    }

    public func histogram(_ name: String, _ help: String, bounds: [Double], partsPerUnit: Double) -> Histogram {
        let histogram = Histogram(bounds: bounds, partsPerUnit: partsPerUnit)
        add(name, help, .histogram) { [.histogram([], histogram.reading)] }
        return histogram
    }

    /// A histogram for each value of one label.
    public func histograms<Label: Hashable & Sendable>(
        _ name: String, _ help: String, bounds: [Double], partsPerUnit: Double, label: String,
        over values: some Sequence<Label>, _ text: @escaping @Sendable (Label) -> String
    ) -> [Label: Histogram] {
        let pairs = values.map { ($0, Histogram(bounds: bounds, partsPerUnit: partsPerUnit)) }
        add(name, help, .histogram) { pairs.map { .histogram([(label, text($0))], $1.reading) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// A family that is read when it is asked for.
    /// - Parameter read: must not give more than a bounded number of samples, each with labels of its own.
    func add(
        _ name: String, _ help: String, _ kind: MetricKind, read: @escaping @Sendable () async -> [MetricSample]
    ) {
        families.withLock { $0.append(MetricFamily(name: name, help: help, kind: kind, read: read)) }
    }

    /// Prometheus' text format, version 0.0.4. A family without samples is left out.
    public func text() async -> String {
        var text = PrometheusText()
        for family in families.withLock({ $0 }) { text.add(family, await family.read()) }
        return text.text
    }

    /// `Content-Type` of `text`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
}

enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}

struct MetricFamily: Sendable {
    let name: String
    let help: String
    let kind: MetricKind
    let read: @Sendable () async -> [MetricSample]
}

enum MetricSample: Sendable {
    case value([(name: String, value: String)], Double)
    case histogram([(name: String, value: String)], Histogram.Reading)
}
