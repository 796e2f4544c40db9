import CardRules
import Intake
import PushWire
import TLS

/// `lanekeeper key new`: makes a key for the HTTP API. Only the caller sees it; the configuration holds its digest.
struct KeyCommand: Equatable, Sendable {
    var scopes: [APIScope] = []
    var name: String?
    var isJSON = false

    static let usage = """
        lanekeeper key new --scope S: makes a key for the HTTP API

          Prints the key, once, and the line for http.keys in the configuration, which holds its SHA-256 only.

          --scope S    feed, devices or admin; repeatable
          --name N     whose key it is, for logs (default: the scopes)
          --json       {"key":"...","line":{...}}
        """

    /// - Throws: `WrongUse` naming the argument and what it takes.
    init(_ words: [String]) throws(WrongUse) {
        var arguments = Arguments(words, of: "key")
        guard arguments.next() == "new" else { throw WrongUse("key knows one word: new; see lanekeeper key --help") }
        while let word = arguments.next() {
            switch word {
            case "--scope":
                for text in try arguments.value(of: word).split(separator: ",").map(String.init) {
                    guard let scope = APIScope(rawValue: text) else {
                        throw WrongUse("--scope takes feed, devices or admin, not \(text)")
                    }
                    if !scopes.contains(scope) { scopes.append(scope) }
                }
            case "--name":
                let name = try arguments.value(of: word)
                guard AppID(name) != nil else { throw WrongUse("--name takes 1 to 128 of A-Z a-z 0-9 . _ : -") }
                self.name = name
            case "--json": isJSON = true
            default: throw arguments.unknown(word)
            }
        }
        guard !scopes.isEmpty else { throw WrongUse("key new needs a --scope: feed, devices or admin") }
    }

    /// - Parameter secret: 32 random bytes.
    /// - Returns: what to say on standard output, line by line.
    func lines(secret: [UInt8]) -> [String] {
        let key = "lk_\(Base64URL.encode(secret))"
        let name = name ?? scopes.map(\.rawValue).joined(separator: "-")
        let digest = APIKey.sha256(ofKey: key)
        guard isJSON else {
            let words = scopes.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            return [key, "{ name: \"\(name)\", scopes: [\(words)], sha256: \"\(digest)\" },"]
        }
        var writer = JSONWriter()
        writer.value(
            .object([
                "key": .string(key),
                "line": .object([
                    "name": .string(name), "scopes": .array(scopes.map { .string($0.rawValue) }),
                    "sha256": .string(digest),
                ]),
            ]))
        return [String(decoding: writer.bytes, as: UTF8.self)]
    }
}
