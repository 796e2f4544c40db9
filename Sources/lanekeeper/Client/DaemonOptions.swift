import Foundation
import Operations

/// Where the daemon is and how to be let in: what every command takes that talks to one.
struct DaemonOptions: Equatable, Sendable {
    var url: String?
    var keyFile: String?
    var caFile: String?
    var isJSON = false
    /// `--config` and `--set`, as they stood.
    private var configuration: [String] = []

    static let usage = """
          --url URL               the daemon: http://HOST:PORT or https://HOST:PORT; without it http.address of the
                                  configuration (--config, --set, LANEKEEPER_HTTP_ADDRESS), or http://127.0.0.1:8480
          --key-file FILE         holds the API key; without it the environment's LANEKEEPER_KEY. There is no option for
                                  the key itself: others on the machine can read command lines
          --ca-file FILE          PEM: the certificates to trust instead of the system's
          --config FILE           the daemon's own configuration, for its address
          --set key.path=value    as serve takes it
          --json                  the result as JSON
        """

    /// - Returns: `false` where the word is none of these.
    mutating func take(_ word: String, _ arguments: inout Arguments) throws(WrongUse) -> Bool {
        switch word {
        case "--url": url = try arguments.value(of: word)
        case "--key-file": keyFile = try arguments.value(of: word)
        case "--ca-file": caFile = try arguments.value(of: word)
        case "--config", "--set": configuration += [word, try arguments.value(of: word)]
        case "--json": isJSON = true
        default: return false
        }
        return true
    }

    /// The daemon's configuration, where one was named or could name an address.
    /// - Throws: `ConfigurationFaults`, `WrongUse`.
    func daemonConfiguration() throws -> Configuration? {
        guard url == nil || !configuration.isEmpty else { return nil }
        return try ConfiguredOptions(configuration, of: "this command").read().configuration
    }

    /// - Throws: `WrongUse` where there is no address or no key to be had of what was given; `ConfigurationFaults`.
    func client(
        _ configuration: Configuration?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ClientConfiguration {
        let text = url ?? configuration.map { Self.url(of: $0.http) } ?? "http://127.0.0.1:8480"
        guard let address = ClientAddress(text) else {
            throw WrongUse("--url takes http://HOST:PORT or https://HOST:PORT, not \(text)")
        }
        guard let key = try keyText(environment) else {
            throw WrongUse("no API key: --key-file FILE or LANEKEEPER_KEY; lanekeeper key new makes one")
        }
        if let caFile { _ = try readBytes(of: caFile) }  // told here, for curl would not say why
        return ClientConfiguration(address, key: key, caFile: caFile)
    }

    /// An address that means every one of this machine is asked for at loopback.
    static func url(of http: Configuration.HTTP) -> String {
        let scheme = http.tls.certificateFile == nil ? "http" : "https"
        let host = ["0.0.0.0", "::"].contains(http.address.host) ? "127.0.0.1" : http.address.host
        return "\(scheme)://\(HostPort(host: host, port: http.address.port))"
    }

    private func keyText(_ environment: [String: String]) throws(WrongUse) -> String? {
        let text: String
        let origin: String
        if let keyFile {
            (text, origin) = (String(decoding: try readBytes(of: keyFile), as: UTF8.self), keyFile)
        } else if let held = environment["LANEKEEPER_KEY"], !held.isEmpty {
            (text, origin) = (held, "LANEKEEPER_KEY")
        } else {
            return nil
        }
        let key = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw WrongUse("\(origin) does not hold an API key: one word of printable ASCII")
        }
        return key
    }
}
