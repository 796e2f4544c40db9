/// One value of `Tuning` under its name in the configuration, with what it may be.
public struct TuningKey: Sendable {
    /// Dotted, below `tuning`: `reissue.afterSeconds`.
    public let name: String
    let slot: Slot

    enum Slot: Sendable {
        /// Fractions allowed.
        case number(any WritableKeyPath<Tuning, Double> & Sendable, ClosedRange<Double>)
        case whole(any WritableKeyPath<Tuning, Int> & Sendable, ClosedRange<Int>)
        /// Minutes after midnight, written `"HH:MM"`.
        case timeOfDay(any WritableKeyPath<Tuning, Int> & Sendable)
    }

    /// Every value there is, in the order of rules.md section 12, then `moments` and `worth`.
    public static let all: [TuningKey] = ofRules + ofMoments + ofWorth

    /// A span of time: none to ten years.
    static func seconds(_ name: String, _ path: any WritableKeyPath<Tuning, Double> & Sendable) -> TuningKey {
        TuningKey(name: name, slot: .number(path, 0...315_360_000))
    }

    static func points(_ name: String, _ path: any WritableKeyPath<Tuning, Double> & Sendable) -> TuningKey {
        TuningKey(name: name, slot: .number(path, 0...100))
    }

    static func number(
        _ name: String, _ path: any WritableKeyPath<Tuning, Double> & Sendable, in range: ClosedRange<Double>
    ) -> TuningKey {
        TuningKey(name: name, slot: .number(path, range))
    }

    static func count(
        _ name: String, _ path: any WritableKeyPath<Tuning, Int> & Sendable, in range: ClosedRange<Int> = 0...1_000_000
    ) -> TuningKey {
        TuningKey(name: name, slot: .whole(path, range))
    }

    // MARK: - Values

    /// What it is in `tuning`, as the configuration writes it.
    public func value(in tuning: Tuning) -> JSONValue {
        switch slot {
        case .number(let path, _): return .number(tuning[keyPath: path])
        case .whole(let path, _): return .integer(Int64(tuning[keyPath: path]))
        case .timeOfDay(let path):
            let minute = tuning[keyPath: path]
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return .string("\(two(minute / 60)):\(two(minute % 60))")
        }
    }

    func set(_ value: JSONValue, in tuning: inout Tuning) throws(TuningFault) {
        switch slot {
        case .number(let path, let range):
            let number: Double
            switch value {
            case .integer(let whole): number = Double(whole)
            case .number(let fraction): number = fraction
            default: throw .wrongType(key: name, expected: "a number")
            }
            guard range.contains(number) else { throw .impossible(key: name, expected: TuningKey.text(range)) }
            tuning[keyPath: path] = number
        case .whole(let path, let range):
            switch value {
            case .integer, .number: break
            default: throw .wrongType(key: name, expected: "a whole number")
            }
            guard let whole = value.wholeNumber, range.contains(whole) else {
                throw .impossible(key: name, expected: "a whole number, \(range.lowerBound) to \(range.upperBound)")
            }
            tuning[keyPath: path] = whole
        case .timeOfDay(let path):
            guard let text = value.text else { throw .wrongType(key: name, expected: "a text such as \"06:00\"") }
            guard let minute = minuteOfDay(text) else {
                throw .impossible(key: name, expected: "HH:MM, \"00:00\" to \"23:59\"")
            }
            tuning[keyPath: path] = minute
        }
    }

    private static func text(_ range: ClosedRange<Double>) -> String { "\(range.lowerBound) to \(range.upperBound)" }
}

/// What is wrong with values given for `Tuning`; `key` is dotted, below `tuning`.
public enum TuningFault: Error, Hashable, Sendable {
    case unknownKey(String)
    case wrongType(key: String, expected: String)
    case impossible(key: String, expected: String)

    public var key: String {
        switch self {
        case .unknownKey(let key), .wrongType(let key, _), .impossible(let key, _): key
        }
    }
}

extension TuningFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownKey(let key): "tuning.\(key): no such key"
        case .wrongType(let key, let expected), .impossible(let key, let expected):
            "tuning\(key.isEmpty ? "" : ".\(key)"): must be \(expected)"
        }
    }
}
