import CardRules
import Simulation

/// What `lanekeeper gateway` was asked for.
struct GatewayCommandOptions: Equatable, Sendable {
    var productionPort: UInt16 = 8443
    var sandboxPort: UInt16 = 8444
    var controlPort: UInt16 = 8445
    var certificateFile: String?
    var keyFile: String?
    var certificateOut: String?
    var providerKeyFile: String?
    var keyID: String?
    var teamID: String?
    var streams = 1000
    var requestsKept = 1000
    var seed: UInt64 = 1

    static let usage = """
        lanekeeper gateway: the simulated APNs gateway alone, on loopback, for any client

          --production PORT     HTTP/2 over TLS (default 8443; 0: any free port)
          --sandbox PORT        the other environment (default 8444)
          --control PORT        for scripts, plain lines over TCP (default 8445)
          --certificate FILE    what clients are shown, with --key FILE; without them one is made
          --certificate-out F   writes the certificate that clients must trust
          --provider-key FILE   takes only provider tokens of this key, with --key-id and --team-id; without it any that
                                is well formed
          --streams N           SETTINGS once a provider token was accepted (default 1000)
          --requests N          requests kept for the control port (default 1000)
          --seed N              of its ids and faults (default 1)

        Every device token is live for every app until the control port says otherwise. One line to the control port is a
        command, such as  printf 'counters\\n' | nc -q1 127.0.0.1 8445

        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "gateway")
        while let word = arguments.next() {
            switch word {
            case "--production": productionPort = try arguments.wholeNumber(of: word, in: 0...UInt16.max)
            case "--sandbox": sandboxPort = try arguments.wholeNumber(of: word, in: 0...UInt16.max)
            case "--control": controlPort = try arguments.wholeNumber(of: word, in: 0...UInt16.max)
            case "--certificate": certificateFile = try arguments.value(of: word)
            case "--key": keyFile = try arguments.value(of: word)
            case "--certificate-out": certificateOut = try arguments.value(of: word)
            case "--provider-key": providerKeyFile = try arguments.value(of: word)
            case "--key-id": keyID = try arguments.value(of: word)
            case "--team-id": teamID = try arguments.value(of: word)
            case "--streams": streams = try arguments.wholeNumber(of: word, in: 1...1_000_000)
            case "--requests": requestsKept = try arguments.wholeNumber(of: word, in: 0...1_000_000)
            case "--seed": seed = try arguments.wholeNumber(of: word, in: 0...UInt64.max)
            default: throw arguments.unknown(word)
            }
        }
        if (certificateFile == nil) != (keyFile == nil) { throw WrongUse("--certificate and --key go together") }
        if providerKeyFile != nil, keyID == nil || teamID == nil {
            throw WrongUse("--provider-key needs --key-id and --team-id")
        }
    }
}
