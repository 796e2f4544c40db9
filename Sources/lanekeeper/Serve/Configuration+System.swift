import CardRules
import Foundation
import Intake
import Operations
import PushPool
import TLS

extension Configuration {
    /// What the push pool is told: every app with its own keys, both gateways. Reads the key files.
    /// - Throws: `TLSError` naming the file that cannot be read.
    func pool() throws -> PushPool.Configuration {
        var apps: [PushPool.Configuration.App] = []
        for app in self.apps {
            var keys: [Gateway: PushPool.Configuration.Key] = [:]
            for gateway in Gateway.allCases { keys[gateway] = try app.poolKey(for: gateway) }
            apps.append(PushPool.Configuration.App(bundleID: app.bundleID, keys: keys))
        }
        var pool = PushPool.Configuration(
            gateways: Dictionary(uniqueKeysWithValues: Gateway.allCases.map { ($0, endpoint(of: $0)) }), trust: trust,
            keys: .ofApps(apps))
        pool.connections = apns.connections
        pool.maxStreams = apns.maxStreams
        pool.maxWaiting = apns.maxWaiting
        pool.perSecond = apns.perSecond
        pool.perTokenPerSecond = apns.perTokenPerSecond
        pool.timeoutSeconds = apns.timeoutSeconds
        pool.tuning = tuning.gateway
        return pool
    }

    /// As their files are now, of all apps.
    /// - Throws: `TLSError` for a file that cannot be read.
    func providerKeys() throws -> [PushPool.Configuration.Key] {
        try apps.flatMap { app in try Gateway.allCases.compactMap { try app.poolKey(for: $0) } }
    }

    func endpoint(of gateway: Gateway) -> PushPool.Configuration.Endpoint {
        PushPool.Configuration.Endpoint(host: apns[gateway].host, port: apns[gateway].port)
    }

    var trust: TLSContext.Trust { apns.caFile.map { .file($0.path) } ?? .system }
}

extension Configuration.App {
    /// - Throws: `TLSError` when its file cannot be read.
    func poolKey(for gateway: Gateway) throws -> PushPool.Configuration.Key? {
        guard let key = key(for: gateway) else { return nil }
        return try PushPool.Configuration.Key(file: key.keyFile.path, keyID: key.keyID, teamID: teamID)
    }
}
