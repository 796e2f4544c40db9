public import CardRules
internal import PushWire

extension [Setting<Configuration>] {
    fileprivate func text(_ configuration: Configuration) -> [(setting: Setting<Configuration>, value: JSONValue)] {
        map { ($0, $0.shown(configuration)) }
    }
}

extension Array {
    /// An object of everything that these settings hold, secrets left out.
    func shown<Root>(_ root: Root) -> JSONValue where Element == Setting<Root> {
        var tree = JSONValue.object([JSONValue.Member]())
        for setting in self {
            let steps = setting.name.split(separator: ".").map(String.init)
            tree = tree.setting(setting.shown(root), at: steps[...]) ?? tree
        }
        return tree
    }
}

extension Configuration {
    /// The whole of it as JSON, defaults included, passwords left out.
    public var json: JSONValue { Configuration.settings.shown(self) }

    /// The whole of it as the annotated JSON5 that people edit: every key with its value, what it is for, and whether a
    /// reload brings a change of it in. Passwords are left out.
    public var annotated: String {
        var text = AnnotatedText()
        text.line(
            "// The configuration of Lanekeeper, every key with its default. JSON5: comments, no quotes around keys.")
        text.line(
            "// --set key.path=value and the environment (LANEKEEPER_HTTP_ADDRESS for http.address) come before this file."
        )
        text.line(
            "// Secrets may stand in files of their own: {\"file\": \"PATH\"}. Relative paths of keys and certificates count"
        )
        text.line("// from this file's folder. (reload): SIGHUP brings a change in; the others want a restart.")
        text.line("{")
        text.members(Configuration.settings.text(self))
        text.line("}")
        return text.text
    }

    /// The keys whose values differ from another's, in order: those that a reload brings in, and those that only a restart
    /// does.
    public func changes(to other: Configuration) -> (atRunTime: [String], atRestart: [String]) {
        var changes: (atRunTime: [String], atRestart: [String]) = ([], [])
        for setting in Configuration.settings where !setting.isEqual(self, other) {
            switch setting.change {
            case .atRunTime: changes.atRunTime.append(setting.name)
            case .atRestart: changes.atRestart.append(setting.name)
            }
        }
        return changes
    }
}

extension Setting where Root == Configuration {
    /// Secrets are compared too, though they are not shown.
    fileprivate func isEqual(_ left: Configuration, _ right: Configuration) -> Bool {
        switch name {
        case "store.url": left.store.url == right.store.url
        case "http.keys": left.http.keys == right.http.keys
        case "feed.postgres": left.feed == right.feed
        default: shown(left) == shown(right)
        }
    }
}

/// Lays out JSON5 with a comment above or behind each key.
private struct AnnotatedText {
    private(set) var text = ""
    private var depth = 0
    private static let width = 118

    mutating func line(_ words: String) {
        text += words.isEmpty ? "\n" : String(repeating: "  ", count: depth) + words + "\n"
    }

    mutating func members(_ entries: [(setting: Setting<Configuration>, value: JSONValue)]) {
        depth += 1
        var open: [String] = []
        for (setting, value) in entries {
            let steps = setting.name.split(separator: ".").map(String.init)
            let groups = steps.dropLast()
            var shared = zip(open, groups).prefix { $0 == $1 }.count
            while open.count > shared { close(&open) }
            while shared < groups.count {
                if shared == 0, !text.hasSuffix("{\n") { line("") }
                line("\(groups[shared]): {")
                depth += 1
                open.append(groups[shared])
                shared += 1
            }
            if groups.isEmpty { line("") }
            entry(steps.last ?? setting.name, setting, value)
        }
        while !open.isEmpty { close(&open) }
        depth -= 1
    }

    private mutating func close(_ open: inout [String]) {
        open.removeLast()
        depth -= 1
        line("},")
    }

    private mutating func entry(_ key: String, _ setting: Setting<Configuration>, _ value: JSONValue) {
        let purpose = setting.purpose + (setting.change == .atRunTime ? " (reload)" : "")
        line("// \(purpose)")
        if let example = setting.example {
            line("// such as")
            for row in JSON5Text.rows(example) { line("//   \(row)") }
            for note in setting.inner { line("//   \(note.name): \(note.purpose)") }
        }
        if setting.name == "tuning" { return tuning(value) }
        let rows = JSON5Text.rows(value)
        for (index, row) in rows.enumerated() {
            line((index == 0 ? "\(key): " : "") + row + (index == rows.count - 1 ? "," : ""))
        }
    }

    private mutating func tuning(_ value: JSONValue) {
        line("tuning: {")
        depth += 1
        var open: [String] = []
        for key in TuningKey.all {
            let steps = key.name.split(separator: ".").map(String.init)
            let groups = steps.dropLast()
            var shared = zip(open, groups).prefix { $0 == $1 }.count
            while open.count > shared { close(&open) }
            while shared < groups.count {
                line("\(groups[shared]): {")
                depth += 1
                open.append(groups[shared])
                shared += 1
            }
            let held = value.value(at: steps[...]) ?? .null
            let words = "\(steps.last ?? key.name): \(JSON5Text.inline(held)),"
            let gap = String(repeating: " ", count: max(2, 40 - depth * 2 - words.count))
            line("\(words)\(gap)// \(key.rule)")
        }
        while !open.isEmpty { close(&open) }
        depth -= 1
        line("},")
    }
}

/// JSON5 as people write it: keys without quotes, short things in one line.
private enum JSON5Text {
    static func inline(_ value: JSONValue) -> String {
        switch value {
        case .object(let members) where members.isEmpty: "{}"
        case .object(let members):
            "{ " + members.map { "\(key($0.key)): \(inline($0.value))" }.joined(separator: ", ") + " }"
        case .array(let elements): "[" + elements.map(inline).joined(separator: ", ") + "]"
        case .number(let number): plain(number)
        default: shown(value)
        }
    }

    /// One line where it fits, else a line for each member.
    static func rows(_ value: JSONValue) -> [String] {
        let one = inline(value)
        guard one.count > 90 else { return [one] }
        switch value {
        case .object(let members):
            return ["{"]
                + members.flatMap { member in
                    indented(rows(member.value), first: "\(key(member.key)): ")
                } + ["}"]
        case .array(let elements): return ["["] + elements.flatMap { indented(rows($0), first: "") } + ["]"]
        default: return [one]
        }
    }

    private static func indented(_ rows: [String], first: String) -> [String] {
        rows.enumerated().map { index, row in
            "  \(index == 0 ? first : "")\(row)\(index == rows.count - 1 ? "," : "")"
        }
    }

    private static func key(_ text: String) -> String {
        text.utf8.allSatisfy { (65...90).contains($0) || (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
            && !(text.utf8.first.map { (48...57).contains($0) } ?? true) ? text : shown(.string(text))
    }

    private static func shown(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
