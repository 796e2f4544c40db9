/// Writes families in Prometheus' text format.
struct PrometheusText {
    private(set) var text = ""

    mutating func add(_ family: MetricFamily, _ samples: [MetricSample]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
        text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
        for sample in samples {
            switch sample {
            case .value(let labels, let value): line(family.name, labels, value)
            case .histogram(let labels, let reading): histogram(family.name, labels, reading)
            }
        }
    }

    private mutating func histogram(
        _ name: String, _ labels: [(name: String, value: String)], _ reading: Histogram.Reading
    ) {
        var count = 0
        for (bound, inBucket) in zip(reading.bounds, reading.counts) {
            count += inBucket
            line("\(name)_bucket", labels + [("le", number(bound))], Double(count))
        }
        count += reading.counts.last ?? 0
        line("\(name)_bucket", labels + [("le", "+Inf")], Double(count))
        line("\(name)_sum", labels, reading.sum)
        line("\(name)_count", labels, Double(count))
    }

    private mutating func line(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(number(value))\n"
    }

    private func number(_ value: Double) -> String {
        value.isFinite ? plain(value) : value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf"
    }

    private func escaped(_ value: String, quotes: Bool) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
