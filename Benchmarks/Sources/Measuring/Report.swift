internal import Foundation

/// What one benchmark found, for people and for programs.
public struct Report: Codable, Sendable {
    public let benchmark: String
    /// What it measures, in a sentence.
    public let subject: String
    public let machine: Machine
    /// What else the numbers hang on: sizes, rounds, versions.
    public var conditions: [String] = []
    public var tables: [Table] = []
    /// What the tables say in words: targets missed, what follows.
    public var findings: [String] = []
    public var figures: [Figure] = []
    public var plots: [Plot] = []

    public init(_ benchmark: String, subject: String) {
        self.benchmark = benchmark
        self.subject = subject
        machine = Machine()
    }

    public mutating func figure(_ name: String, _ value: Double, _ kind: Figure.Kind) {
        figures.append(Figure(name: name, value: value, kind: kind))
    }

    public func markdown() -> String {
        var parts = ["## \(benchmark)", subject]
        parts.append(([machine.words] + conditions).map { "- \($0)" }.joined(separator: "\n"))
        parts += tables.map { $0.markdown() }
        if !findings.isEmpty { parts.append(findings.map { "- \($0)" }.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// One number that can be compared from run to run.
public struct Figure: Codable, Sendable {
    public enum Kind: String, Codable, Sendable {
        /// To something measured in the same run.
        case ratio
        case bytes
        case count
        /// Seconds or a rate: of this machine at this hour, and under no threshold.
        case time
    }

    public let name: String
    public let value: Double
    public let kind: Kind
}

/// Rows of text under headings. The first column is a name, the others are numbers.
public struct Table: Codable, Sendable {
    public let title: String
    public let columns: [String]
    public var rows: [[String]] = []

    public init(_ title: String, _ columns: [String]) {
        self.title = title
        self.columns = columns
    }

    public func markdown() -> String {
        let line = { (cells: [String]) in "| " + cells.joined(separator: " | ") + " |" }
        let rule = columns.indices.map { $0 == 0 ? "---" : "---:" }
        return (["**\(title)**", "", line(columns), line(rule)] + rows.map(line)).joined(separator: "\n")
    }
}

/// For tables: as many digits as mean something.
public func shown(_ value: Double) -> String {
    switch value.magnitude {
    case 0: "0"
    case 1000...: grouped(Int(value.rounded()))
    case 100...: String(Int(value.rounded()))
    case 10...: String(format: "%.1f", value)
    case 0.01...: String(format: "%.2f", value)
    default: String(format: "%.2g", value)
    }
}

public func grouped(_ value: Int) -> String {
    var text = String(value.magnitude)
    var place = text.count - 3
    while place > 0 {
        text.insert(",", at: text.index(text.startIndex, offsetBy: place))
        place -= 3
    }
    return value < 0 ? "-" + text : text
}

/// `1000` is `1k`.
public func short(_ count: Int) -> String {
    switch count {
    case 1_000_000...: count % 1_000_000 == 0 ? "\(count / 1_000_000)M" : grouped(count)
    case 1000...: count % 1000 == 0 ? "\(count / 1000)k" : grouped(count)
    default: "\(count)"
    }
}

/// Bounds that a report must hold, by benchmark and figure.
public struct Thresholds: Codable, Sendable {
    public struct Bound: Codable, Sendable {
        public var atMost: Double?
        public var atLeast: Double?
        /// Why it is what it is.
        public var why: String?
    }

    private let bounds: [String: [String: Bound]]

    public init(from decoder: any Decoder) throws { bounds = try .init(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try bounds.encode(to: encoder) }

    public static func read(_ path: String) throws -> Thresholds {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try JSONDecoder().decode(Thresholds.self, from: data)
    }

    /// - Returns: every bound that the report breaks, in words; also one that it says nothing of.
    public func broken(by report: Report) -> [String] {
        (bounds[report.benchmark] ?? [:]).sorted { $0.key < $1.key }.compactMap { name, bound in
            guard let figure = report.figures.first(where: { $0.name == name }) else {
                return "\(report.benchmark): \(name) was not measured"
            }
            guard figure.kind != .time else { return "\(report.benchmark): \(name) is a time, and takes no threshold" }
            let value = String(format: "%.3f", figure.value)
            if let most = bound.atMost, !(figure.value <= most) {
                return "\(report.benchmark): \(name) is \(value), and may be \(most) at most"
            }
            if let least = bound.atLeast, !(figure.value >= least) {
                return "\(report.benchmark): \(name) is \(value), and must be \(least) at least"
            }
            return nil
        }
    }
}
