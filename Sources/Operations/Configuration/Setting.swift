internal import CardRules
internal import Intake

/// Whether a value can change while the daemon runs.
public enum SettingChange: Hashable, Sendable {
    /// SIGHUP brings it in.
    case atRunTime
    /// Only a restart does.
    case atRestart
}

/// One key of the configuration: the one place from which it is read, judged, printed and described.
///
/// `Root` is what holds the value: the whole configuration, or an element of one of its lists.
struct Setting<Root: Sendable>: Sendable {
    /// Dotted, below the root's object.
    let name: String
    /// One line: what it is for.
    let purpose: String
    let change: SettingChange
    /// What a value may be, for people: "a whole number, 1 to 100".
    let expected: String
    /// `--set` and the environment give it as it is, not as JSON.
    var isText = false
    /// Must be given.
    var isRequired = false
    /// Keys of the elements of a list, or of an object that may be null.
    var inner: [SettingNote] = []
    /// An element with every key, for whoever reads the annotated configuration.
    var example: JSONValue?
    /// Takes a value over, or tells `reading` why not.
    let read: @Sendable (JSONValue, JSONPointer, inout Root, inout ConfigurationReading) -> Void
    /// As it may be shown: secrets are left out.
    let shown: @Sendable (Root) -> JSONValue
}

/// What is known of a setting, without its root.
struct SettingNote: Sendable {
    let name: String
    let purpose: String
    let expected: String
    let isText: Bool
    let isRequired: Bool
}

extension Setting {
    var note: SettingNote {
        SettingNote(name: name, purpose: purpose, expected: expected, isText: isText, isRequired: isRequired)
    }

    var required: Setting {
        var copy = self
        copy.isRequired = true
        return copy
    }

    func with(example: JSONValue) -> Setting {
        var copy = self
        copy.example = example
        return copy
    }
}

// MARK: - Kinds of settings

extension Setting {
    typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// - Parameter parse: `nil` for a value that is not what the setting holds.
    static func value<Value: Sendable>(
        _ name: String, _ path: Path<Value>, _ purpose: String, _ change: SettingChange, expected: String,
        parse: @escaping @Sendable (JSONValue) -> Value?, print: @escaping @Sendable (Value) -> JSONValue
    ) -> Setting {
        Setting(
            name: name, purpose: purpose, change: change, expected: expected,
            read: { json, pointer, root, reading in
                guard let value = parse(json) else { return reading.wrong(json, at: pointer, expected: expected) }
                root[keyPath: path] = value
            },
            shown: { print($0[keyPath: path]) })
    }

    static func whole(
        _ name: String, _ path: Path<Int>, _ purpose: String, _ change: SettingChange, in range: ClosedRange<Int>
    ) -> Setting {
        value(
            name, path, purpose, change, expected: "a whole number, \(range.lowerBound) to \(range.upperBound)",
            parse: { json in json.wholeNumber.flatMap { range.contains($0) ? $0 : nil } },
            print: { .integer(Int64($0)) })
    }

    static func number(
        _ name: String, _ path: Path<Double>, _ purpose: String, _ change: SettingChange, in range: ClosedRange<Double>
    ) -> Setting {
        value(
            name, path, purpose, change, expected: "a number, \(plain(range.lowerBound)) to \(plain(range.upperBound))",
            parse: { json in
                switch json {
                case .integer(let whole) where range.contains(Double(whole)): Double(whole)
                case .number(let number) where range.contains(number): number
                default: nil
                }
            }, print: { .number($0) })
    }

    static func flag(_ name: String, _ path: Path<Bool>, _ purpose: String, _ change: SettingChange) -> Setting {
        value(
            name, path, purpose, change, expected: "true or false",
            parse: { json in if case .bool(let flag) = json { flag } else { nil } }, print: { .bool($0) })
    }

    /// A value written as a text.
    static func text<Value: Sendable>(
        _ name: String, _ path: Path<Value>, _ purpose: String, _ change: SettingChange, expected: String,
        parse: @escaping @Sendable (String) -> Value?, print: @escaping @Sendable (Value) -> String
    ) -> Setting {
        var setting = value(
            name, path, purpose, change, expected: expected, parse: { $0.text.flatMap(parse) },
            print: { .string(print($0)) })
        setting.isText = true
        return setting
    }

    static func optionalText(
        _ name: String, _ path: Path<String?>, _ purpose: String, _ change: SettingChange, expected: String,
        where isGood: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        var setting = value(
            name, path, purpose, change, expected: "\(expected), or null",
            parse: { json -> String?? in
                switch json {
                case .null: .some(nil)
                case .string(let text) where isGood(text): text
                default: nil
                }
            }, print: { $0.map { .string($0) } ?? .null })
        setting.isText = true
        return setting
    }

    /// One of a few words.
    static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: Path<Value>, _ purpose: String, _ change: SettingChange
    ) -> Setting where Value.RawValue == String {
        text(
            name, path, purpose, change,
            expected: Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
            parse: { Value(rawValue: $0) }, print: { $0.rawValue })
    }

    static func file(
        _ name: String, _ path: Path<ConfiguredFile>, _ purpose: String, _ change: SettingChange
    ) -> Setting {
        let expected = "the path of a file"
        return Setting(
            name: name, purpose: purpose, change: change, expected: expected, isText: true,
            read: { json, pointer, root, reading in
                guard let written = json.text, !written.isEmpty else {
                    return reading.wrong(json, at: pointer, expected: expected)
                }
                root[keyPath: path] = ConfiguredFile(written: written, below: reading.folder(at: pointer))
            },
            shown: { .string($0[keyPath: path].written) })
    }

    static func optionalFile(
        _ name: String, _ path: Path<ConfiguredFile?>, _ purpose: String, _ change: SettingChange
    ) -> Setting {
        let expected = "the path of a file, or null"
        return Setting(
            name: name, purpose: purpose, change: change, expected: expected, isText: true,
            read: { json, pointer, root, reading in
                if json == .null {
                    root[keyPath: path] = nil
                    return
                }
                guard let written = json.text, !written.isEmpty else {
                    return reading.wrong(json, at: pointer, expected: expected)
                }
                root[keyPath: path] = ConfiguredFile(written: written, below: reading.folder(at: pointer))
            },
            shown: { $0[keyPath: path].map { .string($0.written) } ?? .null })
    }

    /// A text that must not be shown, or `{"file": "path"}` with it on the first line of that file.
    static func secret<Value: Hashable & Sendable>(
        _ name: String, _ path: Path<Secret<Value>>, _ purpose: String, _ change: SettingChange, expected: String,
        parse: @escaping @Sendable (String) -> Value?, print: @escaping @Sendable (Value) -> String
    ) -> Setting {
        Setting(
            name: name, purpose: purpose, change: change, expected: "\(expected), or {\"file\": \"PATH\"} with it",
            isText: true,
            read: { json, pointer, root, reading in
                guard let (text, file) = reading.secret(json, at: pointer, expected: expected) else { return }
                guard let value = parse(text) else {
                    return reading.fault(
                        at: pointer, file.map { "what is in \($0) must be \(expected)" } ?? "must be \(expected)")
                }
                root[keyPath: path] = Secret(value, file: file)
            },
            shown: { root in
                let secret = root[keyPath: path]
                return secret.file.map { .object(["file": .string($0)]) } ?? .string(print(secret.value))
            })
    }

    /// A list of objects.
    static func list<Element: Sendable>(
        _ name: String, _ path: Path<[Element]>, _ purpose: String, _ change: SettingChange,
        of settings: [Setting<Element>], empty: Element,
        judge: @escaping @Sendable (Element, JSONPointer, inout ConfigurationReading) -> Void
    ) -> Setting {
        let expected = "a list of objects"
        return Setting(
            name: name, purpose: purpose, change: change, expected: expected, inner: settings.map(\.note),
            read: { json, pointer, root, reading in
                guard case .array(let elements) = json else {
                    return reading.wrong(json, at: pointer, expected: expected)
                }
                var list: [Element] = []
                for (index, element) in elements.enumerated() {
                    let place = pointer.appending("\(index)")
                    var value = empty
                    if reading.object(element, at: place, into: &value, settings) {
                        judge(value, place, &reading)
                        list.append(value)
                    }
                }
                root[keyPath: path] = list
            },
            shown: { root in .array(root[keyPath: path].map { element in settings.shown(element) }) })
    }
}

/// Without a fraction where there is none.
func plain(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
}
