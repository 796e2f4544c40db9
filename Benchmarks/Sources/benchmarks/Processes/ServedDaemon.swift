import Foundation
import Measuring
import TLS

/// `lanekeeper serve` as a process of its own, with its files in one folder.
final class ServedDaemon {
    let folder: String
    let address: String
    let port: UInt16
    /// Of every scope.
    let key: String
    private let child: Child

    struct Gateways {
        let production: String
        let sandbox: String
        let certificatePEM: String
    }

    /// Returns when it listens.
    /// - Parameters:
    ///   - store: a libpq URL, or `nil`: SQLite in the folder.
    ///   - apns: further members of `apns`. - others: further members of the whole.
    init(
        program: String, folder: String, store: String?, gateways: Gateways, keyPEM: String, apns: String = "",
        others: String = ""
    ) throws {
        self.folder = folder
        let lines = try Child.run(
            program, ["key", "new", "--scope", "devices", "--scope", "feed", "--scope", "admin"], in: folder
        ).split(separator: "\n").map(String.init)
        guard lines.count >= 2 else { throw Failure("key new said \(lines)") }
        key = lines[0]
        try gateways.certificatePEM.write(toFile: "\(folder)/ca.pem", atomically: false, encoding: .utf8)
        try keyPEM.write(toFile: "\(folder)/key.p8", atomically: false, encoding: .utf8)
        let url = store ?? "sqlite:lanekeeper.db"
        try """
        { apps: [ { id: 'lineup', bundleID: 'com.example.lineup', teamID: 'TEAM123456', keyID: 'KEY1234567',
            keyFile: 'key.p8', slateAttributesType: 'LineupAttributes' } ],
          apns: { caFile: 'ca.pem', \(apns) gateways: { production: { url: '\(gateways.production)' },
            sandbox: { url: '\(gateways.sandbox)' } } },
          store: { url: '\(url)' }, http: { keys: [ \(lines[1]) ] }, \(others) }
        """.write(toFile: "\(folder)/lanekeeper.json5", atomically: false, encoding: .utf8)
        let migrate = store == nil ? [] : ["--migrate"]
        child = try Child(
            program, ["serve", "--config", "lanekeeper.json5", "--set", "http.address=127.0.0.1:0"] + migrate,
            in: folder)
        address = try child.line()
        guard let text = address.split(separator: ":").last, let port = UInt16(text) else {
            child.end()
            throw Failure("serve said \(address)")
        }
        self.port = port
    }

    var cpuSeconds: Double { child.cpuSeconds }
    var residentBytes: Int { ProcessTimes.residentBytes(of: child.pid) }
    var said: String { child.said }

    func end() { child.end() }
}
