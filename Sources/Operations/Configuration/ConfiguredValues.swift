/// A value that must not be shown, given as it is or in a file of its own: `{"file": "path"}`.
public struct Secret<Value: Hashable & Sendable>: Hashable, Sendable, CustomStringConvertible {
    public let value: Value
    /// The file's path as it was written.
    public let file: String?

    public init(_ value: Value, file: String? = nil) { (self.value, self.file) = (value, file) }

    public var description: String { file.map { "in \($0)" } ?? "(hidden)" }
}

/// A file named in the configuration. A relative path counts from the folder of the file that names it; on the command
/// line and in the environment from the working directory.
public struct ConfiguredFile: Hashable, Sendable {
    public let written: String
    /// To be opened.
    public let path: String

    public init(written: String, below folder: String) {
        self.written = written
        path = written.hasPrefix("/") || folder.isEmpty ? written : "\(folder)/\(written)"
    }
}

/// `127.0.0.1:8480`, `[::1]:8480`, `localhost:8480`; `:8480` is every address of this machine.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name or a numeric address, without brackets.
    public let host: String
    /// 0: any free one.
    public let port: UInt16

    public init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// - Parameter defaultPort: for a text without one; `nil` asks for it.
    public init?(_ text: String, defaultPort: UInt16? = nil) {
        var host = text[...]
        var digits: Substring?
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            host = text[..<colon]
            digits = text[text.index(after: colon)...]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(where: { ":[]".contains($0) }) {
            return nil
        }
        guard host.utf8.allSatisfy({ isHostByte($0) }), host.utf8.count <= 253 else { return nil }
        if let digits {
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits) else { return nil }
            self.port = port
        } else {
            guard let defaultPort else { return nil }
            port = defaultPort
        }
        self.host = host.isEmpty && digits != nil ? "0.0.0.0" : String(host)
        if self.host.isEmpty { return nil }
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

private func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: ":"), UInt8(ascii: "%"):
        true
    default: false
    }
}

/// Where APNs, or what plays it, is: `https://HOST` or `https://HOST:PORT`.
public struct GatewayURL: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: UInt16

    public init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// - Returns: `nil` for another scheme, a path, a port of 0.
    public init?(_ text: String) {
        guard text.hasPrefix("https://") else { return nil }
        var rest = text.dropFirst(8)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let place = HostPort(String(rest), defaultPort: 443), place.port > 0, !rest.hasPrefix(":") else {
            return nil
        }
        (host, port) = (place.host, place.port)
    }

    public var description: String {
        port == 443
            ? "https://\(host.contains(":") ? "[\(host)]" : host)" : "https://\(HostPort(host: host, port: port))"
    }
}

/// Where the store is.
public enum StoreURL: Hashable, Sendable {
    /// Relative to the working directory, as a data file is.
    case sqlite(path: String)
    /// Passed on to libpq; may hold a password.
    case postgres(String)

    /// - Returns: `nil` for another scheme, or where nothing follows it.
    public init?(_ text: String) {
        if text.hasPrefix("sqlite:") {
            var path = text.dropFirst(7)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard !path.isEmpty else { return nil }
            self = .sqlite(path: String(path))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            guard !text.hasSuffix("://") else { return nil }
            self = .postgres(text)
        } else {
            return nil
        }
    }

    /// As it may be shown.
    public var shown: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let url): withoutPassword(url)
        }
    }
}

/// A URL, or libpq's `key=value` form, with its password replaced by `***`.
func withoutPassword(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else {
        return url.split(separator: " ").map { $0.hasPrefix("password") ? "password=***" : String($0) }
            .joined(separator: " ")
    }
    var shown = url
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
    if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
        shown = url[..<colon] + ":***" + url[at...]
    }
    guard let query = shown.firstIndex(of: "?") else { return shown }
    let members = shown[shown.index(after: query)...].split(separator: "&").map {
        $0.hasPrefix("password=") ? "password=***" : String($0)
    }
    return shown[...query] + members.joined(separator: "&")
}
