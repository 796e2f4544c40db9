import CardRules
import LaneStore
import Lanes
import Operations

/// `lanekeeper migrate`: brings the store to this version, and refuses one that a newer program wrote.
struct MigrateCommand: Sendable {
    let options: ConfiguredOptions

    static let usage = """
        lanekeeper migrate: brings the store to this version

          serve does it by itself on SQLite, and with --migrate in PostgreSQL, where it may run on several nodes at once. A
          store that a newer version wrote is refused and left alone.

        \(ConfiguredOptions.usage)
          --json                  {"store":"...","migrated":true}
        """

    init(_ words: [String]) throws(WrongUse) { options = try ConfiguredOptions(words, of: "migrate") }

    /// - Returns: what to say.
    /// - Throws: `ConfigurationFaults`, `WrongUse`, `StoreFault`.
    func run() async throws -> String {
        let configuration = try options.read().configuration
        try await migrateStore(configuration)
        let shown = configuration.store.url.value.shown
        return options.isJSON
            ? jsonText(.object(["store": .string(shown), "migrated": .bool(true)])) : "\(shown) is at this version"
    }
}
