internal import Intake

/// Where a value of the configuration came from.
public enum ConfigurationOrigin: Hashable, Sendable {
    /// Line from 1.
    case file(path: String, line: Int)
    case environment(name: String)
    case commandLine(path: String)
    /// Nobody gave it.
    case defaults
}

extension ConfigurationOrigin: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): name
        case .commandLine(let path): "--set \(path)"
        case .defaults: "configuration"
        }
    }
}

/// Why a value of the configuration cannot be: the key, where it stands, what it would have to be.
public struct ConfigurationFault: Error, Hashable, Sendable {
    public let origin: ConfigurationOrigin
    /// Dotted, places in lists as numbers: `apps.0.bundleID`. Empty where the text as a whole is meant.
    public let key: String
    public let what: String

    public init(origin: ConfigurationOrigin, key: String, what: String) {
        (self.origin, self.key, self.what) = (origin, key, what)
    }
}

extension ConfigurationFault: CustomStringConvertible {
    /// One line for people: `lanekeeper.json5:12: http.adress: no such key; address?`
    public var description: String { "\(origin): \(key.isEmpty ? "" : "\(key): ")\(what)" }
}

/// All that is wrong with a configuration: at least one fault.
public struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    public let faults: [ConfigurationFault]

    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
