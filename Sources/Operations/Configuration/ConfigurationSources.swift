internal import CardRules
internal import Intake

/// Where the values of a configuration come from; of two that name the same key the one higher in this list wins.
public struct ConfigurationSources: Sendable {
    /// `key.path=value`, the last one first in rank.
    public var sets: [String] = []
    /// `LANEKEEPER_HTTP_ADDRESS` for `http.address`; what does not begin with `LANEKEEPER_` is not looked at.
    public var environment: [String: String] = [:]
    /// JSON5.
    public var file: File?

    public init() {}

    public struct File: Sendable {
        public let path: String
        public let bytes: [UInt8]

        public init(path: String, bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }
    }

    /// The name of the environment variable of a key: `LANEKEEPER_HTTP_MAX_BODY_BYTES` for `http.maxBodyBytes`.
    public static func environmentName(of path: String) -> String {
        var name = "LANEKEEPER_"
        var isLower = false
        for scalar in path.unicodeScalars {
            if scalar == "." {
                name += "_"
                isLower = false
            } else {
                let isUpper = ("A"..."Z").contains(scalar)
                if isUpper, isLower { name += "_" }
                name += String(scalar).uppercased()
                isLower = !isUpper
            }
        }
        return name
    }
}

/// A configuration, and what should be said about it though it is good.
public struct ReadConfiguration: Sendable {
    public let configuration: Configuration
    public let remarks: [String]
}

extension Configuration {
    /// Reads and judges a configuration.
    ///
    /// - Parameter readFile: for secrets in files of their own.
    /// - Throws: everything that is wrong with it, in the order of the text.
    public static func read(
        _ sources: ConfigurationSources, readFile: @escaping @Sendable (String) throws -> [UInt8]
    ) throws(ConfigurationFaults) -> ReadConfiguration {
        var faults: [ConfigurationFault] = []
        var document: (path: String, document: JSONDocument)?
        if let file = sources.file {
            do throws(JSONFault) {
                document = (file.path, try JSONDocument(file.bytes, dialect: .lenient))
            } catch {
                let place = error.place(in: file.bytes.span)
                faults.append(
                    ConfigurationFault(
                        origin: .file(path: file.path, line: place.line), key: "",
                        what: "\(error) (column \(place.column))"))
            }
        }
        let (environment, remarks) = overlays(fromEnvironment: sources.environment)
        let (sets, wrongSets) = overlays(fromSets: sources.sets)
        faults += wrongSets
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }

        var tree = document?.document.root ?? .object([JSONValue.Member]())
        let overlays = environment + sets
        for overlay in overlays {
            if let laid = tree.setting(overlay.value, at: overlay.steps[...]) {
                tree = laid
            } else {
                faults.append(
                    ConfigurationFault(
                        origin: overlay.origin, key: overlay.steps.joined(separator: "."),
                        what: "leads nowhere: no list has such a place, and no value an inside"))
            }
        }
        var reading = ConfigurationReading(file: document, overlays: overlays, readFile: readFile)
        var configuration = Configuration()
        if reading.object(tree, at: .root, into: &configuration, settings) { configuration.judge(&reading) }
        faults += reading.faults
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults.sortedByPlace) }
        return ReadConfiguration(configuration: configuration, remarks: remarks)
    }

    private static func overlays(
        fromEnvironment environment: [String: String]
    ) -> (overlays: [ConfigurationOverlay], remarks: [String]) {
        var overlays: [ConfigurationOverlay] = []
        var remarks: [String] = []
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("LANEKEEPER_") {
            guard let path = environmentNames[name] else {
                // Others use the prefix too (Kubernetes, for a service of that name): only what looks like a slip is told.
                if let nearest = nearestName(to: name, among: environmentNames.keys.sorted()) {
                    remarks.append("\(name) sets nothing; \(nearest)?")
                }
                continue
            }
            overlays.append(overlay(path, text, origin: .environment(name: name)))
        }
        return (overlays, remarks)
    }

    private static func overlays(
        fromSets sets: [String]
    ) -> (overlays: [ConfigurationOverlay], faults: [ConfigurationFault]) {
        var overlays: [ConfigurationOverlay] = []
        var faults: [ConfigurationFault] = []
        for set in sets {
            guard let equals = set.firstIndex(of: "="), equals > set.startIndex else {
                faults.append(
                    ConfigurationFault(origin: .commandLine(path: set), key: "", what: "must be key.path=value"))
                continue
            }
            let path = String(set[..<equals])
            overlays.append(
                overlay(path, String(set[set.index(after: equals)...]), origin: .commandLine(path: path)))
        }
        return (overlays, faults)
    }

    /// A text setting takes the text as it is, unless it is quoted, an object or null; anything else is JSON5, and a text
    /// where it is not.
    private static func overlay(_ path: String, _ text: String, origin: ConfigurationOrigin) -> ConfigurationOverlay {
        let steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isPlain = !(text == "null" || text.hasPrefix("\"") || text.hasPrefix("'") || text.hasPrefix("{"))
        let value: JSONValue
        if isPlain, isText(steps) {
            value = .string(text)
        } else {
            value = (try? JSONDocument(Array(text.utf8), dialect: .lenient).root) ?? .string(text)
        }
        return ConfigurationOverlay(steps: steps, value: value, origin: origin)
    }

    private static func isText(_ steps: [String]) -> Bool {
        let path = steps.joined(separator: ".")
        for setting in settings {
            if setting.name == path { return setting.isText }
            guard path.hasPrefix("\(setting.name).") else { continue }
            var rest = steps.dropFirst(setting.name.split(separator: ".").count)
            if let first = rest.first, Int(first) != nil { rest = rest.dropFirst() }
            let name = rest.joined(separator: ".")
            if let note = setting.inner.first(where: { $0.name == name || name.hasPrefix("\($0.name).") }) {
                return note.isText
            }
        }
        return false
    }

    /// The environment's name of every key, tuning included; of what is in lists only the lists as a whole.
    static let environmentNames: [String: String] = Dictionary(
        (settings.map(\.name) + TuningKey.all.map { "tuning.\($0.name)" })
            .map { (ConfigurationSources.environmentName(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
}

extension [ConfigurationFault] {
    /// By line where they have one; others stay where they are, behind.
    fileprivate var sortedByPlace: [ConfigurationFault] {
        func line(_ fault: ConfigurationFault) -> Int {
            if case .file(_, let line) = fault.origin { line } else { .max }
        }
        return enumerated().sorted { (line($0.element), $0.offset) < (line($1.element), $1.offset) }.map(\.element)
    }
}
