public import CardRules

/// Many lines of the slate format: the body of `POST /v1/ticks`, or a slate file (NDJSON).
public struct SlateText: Hashable, Sendable {
    /// Rejected lines that are told one by one; of further ones only the number is kept.
    public static let maximumRejected = 1000

    /// A line that was not usable; `number` counts from 1, blank lines included.
    public struct Rejected: Hashable, Sendable {
        public var number: Int
        public var fault: SlateLineFault

        public init(number: Int, fault: SlateLineFault) {
            self.number = number
            self.fault = fault
        }
    }

    /// A usable line and where it stood.
    public struct Numbered: Hashable, Sendable {
        public var number: Int
        public var line: SlateLine

        public init(number: Int, line: SlateLine) {
            self.number = number
            self.line = line
        }
    }

    /// In the order of the text; at least one.
    public private(set) var lines: [Numbered] = []
    public private(set) var rejected: [Rejected] = []
    public private(set) var rejectedCount = 0

    /// - Throws: `noUsableLine`, when every line is blank or at fault.
    public init(_ text: Span<UInt8>) throws(SlateTextFault) {
        var number = 0
        var start = 0
        while start < text.count {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            number += 1
            add(text.extracting(start..<end), number)
            start = end + 1
        }
        guard !lines.isEmpty else { throw .noUsableLine(rejected: rejected, count: rejectedCount) }
    }

    private mutating func add(_ line: Span<UInt8>, _ number: Int) {
        guard !isBlank(line) else { return }
        do throws(SlateLineFault) {
            lines.append(Numbered(number: number, line: try SlateLineParser.parse(line)))
        } catch {
            rejectedCount += 1
            guard rejected.count < SlateText.maximumRejected else { return }
            rejected.append(Rejected(number: number, fault: error))
        }
    }

    private func isBlank(_ line: Span<UInt8>) -> Bool {
        for index in line.indices {
            switch line[index] {
            case 0x20, 0x09, 0x0D: continue
            default: return false
            }
        }
        return true
    }
}

/// A text in which no line is usable.
public enum SlateTextFault: Error, Hashable, Sendable {
    case noUsableLine(rejected: [SlateText.Rejected], count: Int)
}

extension SlateTextFault: CustomStringConvertible {
    /// One line for people, with the first fault.
    public var description: String {
        switch self {
        case .noUsableLine(let rejected, let count):
            guard let first = rejected.first else { return "no line in it" }
            return count == 1
                ? "its one line cannot be used; line \(first.number): \(first.fault)"
                : "none of its \(count) lines can be used; line \(first.number): \(first.fault)"
        }
    }
}
