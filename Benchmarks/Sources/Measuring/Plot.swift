internal import Foundation

/// Lines over a plane, drawn as an SVG of its own: no library, no script, no font but the viewer's.
public struct Plot: Codable, Sendable {
    public enum Scale: String, Codable, Sendable { case linear, logarithmic }

    public struct Axis: Codable, Sendable {
        public let name: String
        public let scale: Scale

        public init(_ name: String, _ scale: Scale = .linear) {
            self.name = name
            self.scale = scale
        }
    }

    public struct Series: Codable, Sendable {
        public let name: String
        public let points: [Point]
        /// A floor or a target: drawn dashed.
        public let isReference: Bool

        public init(_ name: String, _ points: [Point], isReference: Bool = false) {
            self.name = name
            self.points = points
            self.isReference = isReference
        }
    }

    public struct Point: Codable, Sendable {
        public let x: Double
        public let y: Double

        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// Also the name of its file.
    public let name: String
    public let title: String
    public let across: Axis
    public let up: Axis
    public var series: [Series] = []

    public init(_ name: String, title: String, across: Axis, up: Axis) {
        self.name = name
        self.title = title
        self.across = across
        self.up = up
    }

    /// Of every value the share of runs at or below it: steep is steady, a long way to the right is a tail.
    public static func shares(_ values: [Double]) -> [Point] {
        let sorted = values.sorted()
        return sorted.enumerated().map { Point($1, Double($0 + 1) / Double(sorted.count) * 100) }
    }
}

extension Plot {
    private static let colours = ["#1b6ca8", "#c8553d", "#2f8f5b", "#8a5fbf", "#b58900", "#5c6b73"]
    private static let width = 720.0
    private static let height = 400.0
    private static let left = 76.0
    private static let right = 532.0
    private static let top = 44.0
    private static let bottom = 344.0

    public func svg() -> String {
        let points = series.flatMap(\.points)
        let x = Ruler(points.map(\.x), across.scale, from: Plot.left, to: Plot.right)
        let y = Ruler(points.map(\.y), up.scale, from: Plot.bottom, to: Plot.top)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Plot.width)) \(Int(Plot.height))\" "
                + "font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            text(Plot.left, 24, title, "font-size=\"15\" font-weight=\"bold\""),
        ]
        for tick in x.ticks {
            let place = x.place(tick)
            lines.append(line(place, Plot.top, place, Plot.bottom))
            lines.append(text(place, Plot.bottom + 18, Plot.label(tick), "text-anchor=\"middle\""))
        }
        for tick in y.ticks {
            let place = y.place(tick)
            lines.append(line(Plot.left, place, Plot.right, place))
            lines.append(text(Plot.left - 8, place + 4, Plot.label(tick), "text-anchor=\"end\""))
        }
        lines.append(text((Plot.left + Plot.right) / 2, Plot.bottom + 42, across.name, "text-anchor=\"middle\""))
        lines.append(
            text(
                0, 0, up.name,
                "text-anchor=\"middle\" transform=\"translate(18 \((Plot.top + Plot.bottom) / 2)) rotate(-90)\""))
        for (number, one) in series.enumerated() { lines += draw(one, number, x, y) }
        return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func draw(_ one: Series, _ number: Int, _ x: Ruler, _ y: Ruler) -> [String] {
        let colour = Plot.colours[number % Plot.colours.count]
        let dash = one.isReference ? " stroke-dasharray=\"6 4\"" : ""
        let path = one.points.map { "\(Plot.short(x.place($0.x))),\(Plot.short(y.place($0.y)))" }
        var lines = [
            "<polyline fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"\(dash) points=\"\(path.joined(separator: " "))\"/>"
        ]
        if one.points.count <= 12 {
            lines += one.points.map {
                "<circle cx=\"\(Plot.short(x.place($0.x)))\" cy=\"\(Plot.short(y.place($0.y)))\" r=\"3\" fill=\"\(colour)\"/>"
            }
        }
        let row = Plot.top + 10 + Double(number) * 20
        lines.append(
            "<line x1=\"\(Plot.right + 14)\" y1=\"\(row)\" x2=\"\(Plot.right + 36)\" y2=\"\(row)\" stroke=\"\(colour)\" "
                + "stroke-width=\"2\"\(dash)/>")
        lines.append(text(Plot.right + 42, row + 4, one.name, ""))
        return lines
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line x1=\"\(Plot.short(x1))\" y1=\"\(Plot.short(y1))\" x2=\"\(Plot.short(x2))\" y2=\"\(Plot.short(y2))\" stroke=\"#d5dadd\"/>"
    }

    private func text(_ x: Double, _ y: Double, _ words: String, _ rest: String) -> String {
        let escaped = words.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
        return "<text x=\"\(Plot.short(x))\" y=\"\(Plot.short(y))\" fill=\"#22303a\" \(rest)>\(escaped)</text>"
    }

    private static func short(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func label(_ value: Double) -> String {
        switch value.magnitude {
        case 1_000_000...: "\(String(format: "%g", value / 1_000_000))M"
        case 1000...: "\(String(format: "%g", value / 1000))k"
        default: String(format: "%g", value)
        }
    }
}

/// Where a value stands on one axis, and which values are written beside it.
private struct Ruler {
    let ticks: [Double]
    private let low: Double
    private let high: Double
    private let scale: Plot.Scale
    private let from: Double
    private let to: Double

    init(_ values: [Double], _ scale: Plot.Scale, from: Double, to: Double) {
        (self.scale, self.from, self.to) = (scale, from, to)
        switch scale {
        case .linear:
            let most = max(values.max() ?? 1, 1e-9)
            let step = Ruler.step(most)
            high = (most / step).rounded(.up) * step
            low = 0
            ticks = Array(stride(from: 0, through: high + step / 2, by: step))
        case .logarithmic:
            let positive = values.filter { $0 > 0 }
            let first = log10(positive.min() ?? 1).rounded(.down)
            let last = max(log10(positive.max() ?? 10).rounded(.up), first + 1)
            (low, high) = (first, last)
            ticks = stride(from: first, through: last, by: 1).map { pow(10, $0) }
        }
    }

    func place(_ value: Double) -> Double {
        let measured = scale == .linear ? value : log10(max(value, pow(10, low)))
        return from + (measured - low) / (high - low) * (to - from)
    }

    /// About five of them.
    private static func step(_ most: Double) -> Double {
        let rough = most / 5
        let power = pow(10, log10(rough).rounded(.down))
        return ([1, 2, 5, 10].first { $0 * power >= rough } ?? 10) * power
    }
}
