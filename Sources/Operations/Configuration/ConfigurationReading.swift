internal import CardRules
internal import Intake
internal import PushWire

/// One value laid over the file's, from the command line or the environment.
struct ConfigurationOverlay: Sendable {
    let steps: [String]
    let value: JSONValue
    let origin: ConfigurationOrigin

    func covers(_ pointer: JSONPointer) -> Bool { pointer.steps.starts(with: steps) }
}

/// A reading of the configuration under way: knows where each value came from, and gathers what is wrong.
struct ConfigurationReading {
    let file: (path: String, document: JSONDocument)?
    /// The later ones win.
    let overlays: [ConfigurationOverlay]
    let readFile: @Sendable (String) throws -> [UInt8]
    private(set) var faults: [ConfigurationFault] = []

    init(
        file: (path: String, document: JSONDocument)?, overlays: [ConfigurationOverlay],
        readFile: @escaping @Sendable (String) throws -> [UInt8]
    ) {
        self.file = file
        self.overlays = overlays
        self.readFile = readFile
    }

    /// Where the value at a place came from, or would have.
    func origin(at pointer: JSONPointer) -> ConfigurationOrigin {
        if let overlay = overlays.last(where: { $0.covers(pointer) }) { return overlay.origin }
        let isInFile = file?.document.range(of: pointer) != nil
        if !isInFile, let below = overlays.last(where: { $0.steps.starts(with: pointer.steps) }) { return below.origin }
        guard let file else { return .defaults }
        // What stands nowhere in the file, and not even the object around it, was given by nobody.
        if file.document.range(of: JSONPointer(Array(pointer.steps.prefix(1)))) == nil { return .defaults }
        return .file(path: file.path, line: file.document.line(of: pointer))
    }

    /// The folder that a relative path written there counts from; empty: the working directory.
    func folder(at pointer: JSONPointer) -> String {
        guard case .file(let path, _) = origin(at: pointer), let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    mutating func fault(at pointer: JSONPointer, _ what: String) {
        faults.append(
            ConfigurationFault(origin: origin(at: pointer), key: pointer.steps.joined(separator: "."), what: what))
    }

    mutating func wrong(_ json: JSONValue, at pointer: JSONPointer, expected: String) {
        fault(at: pointer, "must be \(expected); it is \(shortened(json))")
    }

    /// A secret's text, and the file it was in; `nil` after a fault, whose text does not show it.
    mutating func secret(_ json: JSONValue, at pointer: JSONPointer, expected: String) -> (String, file: String?)? {
        if let text = json.text { return (text, nil) }
        guard case .object(let members) = json, members.count == 1, let written = json["file"]?.text, !written.isEmpty
        else {
            fault(at: pointer, "must be \(expected), or {\"file\": \"PATH\"} with it")
            return nil
        }
        let path = ConfiguredFile(written: written, below: folder(at: pointer)).path
        do {
            let bytes = try readFile(path)
            let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
            return (String(decoding: line, as: UTF8.self), written)
        } catch {
            fault(at: pointer, "\(path) cannot be read: \(error)")
            return nil
        }
    }

    /// An object with the values of `settings`, nested as their dotted names say.
    /// - Returns: whether nothing was wrong with it.
    mutating func object<Root>(
        _ json: JSONValue, at pointer: JSONPointer, into root: inout Root, _ settings: [Setting<Root>]
    ) -> Bool {
        let before = faults.count
        members(json, at: pointer, below: "", into: &root, settings)
        for setting in settings where setting.isRequired {
            let steps = setting.name.split(separator: ".").map(String.init)
            if json.value(at: steps[...]) == nil {
                fault(at: JSONPointer(pointer.steps + steps), "is missing: \(setting.expected)")
            }
        }
        return faults.count == before
    }

    private mutating func members<Root>(
        _ json: JSONValue, at pointer: JSONPointer, below prefix: String, into root: inout Root,
        _ settings: [Setting<Root>]
    ) {
        guard case .object(let members) = json else { return wrong(json, at: pointer, expected: "an object") }
        for member in members {
            let name = prefix + member.key
            let place = pointer.appending(member.key)
            if let setting = settings.first(where: { $0.name == name }) {
                setting.read(member.value, place, &root, &self)
            } else if settings.contains(where: { $0.name.hasPrefix("\(name).") }) {
                self.members(member.value, at: place, below: "\(name).", into: &root, settings)
            } else {
                unknown(member.key, at: place, below: prefix, among: settings.map(\.name))
            }
        }
    }

    private mutating func unknown(_ key: String, at place: JSONPointer, below prefix: String, among names: [String]) {
        let siblings = names.filter { $0.hasPrefix(prefix) }.map { name in
            String(name.dropFirst(prefix.count).prefix { $0 != "." })
        }
        let nearest =
            nearestName(to: key, among: siblings)
            ?? names.first { $0 == key || $0.hasSuffix(".\(key)") || $0.hasPrefix("\(key).") }
        fault(at: place, "no such key\(nearest.map { "; \($0)?" } ?? "")")
    }
}

extension JSONValue {
    func value(at steps: ArraySlice<String>) -> JSONValue? {
        guard let step = steps.first else { return self }
        switch self {
        case .object: return self[step]?.value(at: steps.dropFirst())
        case .array: return Int(step).flatMap { self[$0] }?.value(at: steps.dropFirst())
        default: return nil
        }
    }

    /// The same with a value in the place of what is there, objects made on the way.
    /// - Returns: `nil` where a step leads nowhere: beside a list's places, or into something that has no inside.
    func setting(_ value: JSONValue, at steps: ArraySlice<String>) -> JSONValue? {
        guard let step = steps.first else { return value }
        switch self {
        case .array(var elements):
            guard let index = Int(step), elements.indices.contains(index),
                let inner = elements[index].setting(value, at: steps.dropFirst())
            else { return nil }
            elements[index] = inner
            return .array(elements)
        case .object(let members):
            let held = self[step] ?? .object([Member]())
            guard let inner = held.setting(value, at: steps.dropFirst()) else { return nil }
            return .object(
                (members.filter { $0.key != step } + [Member(key: step, value: inner)]).sorted { $0.key < $1.key })
        case .null: return JSONValue.object([Member]()).setting(value, at: steps)
        default: return nil
        }
    }
}

/// A value in one line for people, cut where it is long.
func shortened(_ json: JSONValue) -> String {
    var writer = JSONWriter()
    writer.value(json)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    return text.count > 60 ? "\(text.prefix(57))..." : text
}
