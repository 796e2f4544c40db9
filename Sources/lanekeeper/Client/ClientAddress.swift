/// Where a daemon is: scheme, host, port and perhaps a path that a proxy puts before the API's.
struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    /// Without a slash at its end.
    let description: String
    let isEncrypted: Bool
    /// This machine: a proxy named in the environment is not asked, and a key in plain text meets nobody.
    let isLoopback: Bool

    /// `http://host:port` or `https://host:port`, with a path if need be. `nil` for anything else: a query, a fragment,
    /// a name and password (a key does not belong where shells and logs keep it), a blank.
    init?(_ text: String) {
        let rest: Substring
        let lower = text.lowercased()
        if lower.hasPrefix("http://") {
            (rest, isEncrypted) = (text.dropFirst(7), false)
        } else if lower.hasPrefix("https://") {
            (rest, isEncrypted) = (text.dropFirst(8), true)
        } else {
            return nil
        }
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !rest.contains(where: { "?#@\\".contains($0) }) else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" }
        var host = authority
        var port = Substring("")
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            port = authority[authority.index(after: end)...]
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[colon...]
        }
        if !port.isEmpty {
            guard port.hasPrefix(":"), let number = Int(port.dropFirst()), 1...65535 ~= number else { return nil }
        }
        guard !host.isEmpty, host != "[]" else { return nil }
        var whole = text[...]
        while whole.hasSuffix("/") { whole = whole.dropLast() }
        description = String(whole)
        isLoopback = host == "localhost" || host.hasPrefix("127.") || host == "[::1]"
    }
}
