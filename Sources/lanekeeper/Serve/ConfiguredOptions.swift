import Foundation
import Operations

/// What every command that reads the configuration takes.
struct ConfiguredOptions: Equatable, Sendable {
    var configurationFile: String?
    var sets: [String] = []
    var isJSON = false
    /// Options of the one command, without a value.
    var flags: Set<String> = []

    static let usage = """
          --config FILE           JSON5; Config/lanekeeper.json5 has every key, its default and what it is for
          --set key.path=value    before the environment (LANEKEEPER_HTTP_ADDRESS for http.address) and the file; repeatable
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String], of command: String, flags known: Set<String> = []) throws(WrongUse) {
        var arguments = Arguments(words, of: command)
        while let word = arguments.next() {
            switch word {
            case "--config": configurationFile = try arguments.value(of: word)
            case "--set":
                let set = try arguments.value(of: word)
                guard let equals = set.firstIndex(of: "="), equals > set.startIndex else {
                    throw WrongUse("--set takes key.path=value, not \(set)")
                }
                sets.append(set)
            case "--json": isJSON = true
            case _ where known.contains(word): flags.insert(word)
            default: throw arguments.unknown(word)
            }
        }
    }

    /// Reads the configuration, again at each call.
    /// - Throws: `ConfigurationFaults`; `WrongUse` for a file that cannot be read.
    func read() throws -> ReadConfiguration {
        var sources = ConfigurationSources()
        sources.sets = sets
        sources.environment = ProcessInfo.processInfo.environment
        if let path = configurationFile {
            sources.file = ConfigurationSources.File(path: path, bytes: try readBytes(of: path))
        }
        return try Configuration.read(sources) { try readFile($0) }
    }
}
