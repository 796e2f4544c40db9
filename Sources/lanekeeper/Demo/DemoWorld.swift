import CardRules
import Foundation
import Lanes
import Operations
import Simulation
import TLS

/// The outside of a demo: simulated phones with what they tell, the simulated gateway over TLS, and the folder with the
/// store and the files that a configuration names. It lives on when the daemon is dropped and built again.
struct DemoWorld: Sendable {
    static let bundleID = "com.example.lineup"
    static let keyID = "KEY1234567"
    static let teamID = "TEAM123456"

    let fleet: PhoneFleet
    let calls: AppCalls
    let gateway: GatewayServer
    let clock: any WallClock & SteadyClock
    let seed: UInt64
    private let folder: URL

    /// - Parameter speed: virtual seconds in a real one: a push may take that much longer on the judge's clock.
    /// - Throws: what the system refuses: a socket, a key, a folder. Nothing is left behind then.
    init(
        phones: Int, seed: UInt64, night: FleetNight, clock: any WallClock & SteadyClock, speed: Double, tuning: Tuning
    ) throws {
        var judging = JudgeOptions()
        judging.inFlightSeconds = max(judging.inFlightSeconds, speed)
        let fleet = PhoneFleet(
            handsets: phones, night: night, seed: seed, bundleID: DemoWorld.bundleID,
            judge: Judge(tuning: tuning, options: judging))
        try self.init(fleet: fleet, seed: seed, clock: clock)
    }

    /// - Parameter fleet: phones of the app `DemoWorld.bundleID`.
    init(fleet: PhoneFleet, seed: UInt64, clock: any WallClock & SteadyClock) throws {
        let keyPEM = try SigningKey.freshPEM()
        let verifying = try VerifyingKey(pem: keyPEM)
        var options = GatewayOptions()
        options.keys = [
            ProviderKey(keyID: DemoWorld.keyID, teamID: DemoWorld.teamID) { message, signature in
                verifying.isValid(signature, of: message)
            }
        ]
        let name = try SecureRandom.bytes(8).map { String($0, radix: 16) }.joined()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("lanekeeper-demo-\(name)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            gateway = try GatewayServer(
                backend: fleet, identity: try ServerIdentity.selfSigned(now: MachineClock().now.unixSeconds),
                options: options, seed: seed, now: { clock.now })
            try Data(keyPEM.utf8).write(to: folder.appendingPathComponent(DemoWorld.keyFile))
            try Data(gateway.certificatePEM.utf8).write(to: folder.appendingPathComponent(DemoWorld.caFile))
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        self.fleet = fleet
        calls = AppCalls(fleet: fleet, clock: clock)
        self.clock = clock
        self.seed = seed
    }

    private static let keyFile = "AuthKey.p8"
    private static let caFile = "gateway.pem"

    /// What `serve` would be told to run in this world: any free port, one app, both simulated gateways.
    /// - Parameters:
    ///   - speed: virtual seconds in a real one; deadlines of the network are stretched by it.
    ///   - keys: to the API.
    func configuration(speed: Double, tuning: Tuning, keys: [Configuration.APIKey]) -> Configuration {
        var configuration = Configuration()
        configuration.store.url = Secret(.sqlite(path: folder.appendingPathComponent("lanekeeper.db").path))
        configuration.http.address = HostPort(host: "127.0.0.1", port: 0)
        configuration.http.keys = keys
        var app = Configuration.App()
        app.id = AppID(unchecked: "lineup")
        app.bundleID = DemoWorld.bundleID
        app.teamID = DemoWorld.teamID
        app.keyID = DemoWorld.keyID
        app.keyFile = file(DemoWorld.keyFile)
        app.slateAttributesType = "LineupAttributes"
        configuration.apps = [app]
        configuration.apns.production = url(of: .production)
        configuration.apns.sandbox = url(of: .sandbox)
        configuration.apns.caFile = file(DemoWorld.caFile)
        configuration.apns.timeoutSeconds = 30 * max(1, speed)
        // A clock that only moves when nothing is in flight must not be waited for.
        configuration.apns.perSecond = 1e9
        configuration.apns.perTokenPerSecond = 0
        configuration.tuning = tuning
        return configuration
    }

    private func file(_ name: String) -> ConfiguredFile { ConfiguredFile(written: name, below: folder.path) }

    private func url(of gateway: Gateway) -> GatewayURL {
        // Without a port nothing listens there: a demo runs both sides.
        GatewayURL(host: "127.0.0.1", port: self.gateway.address(of: gateway)?.port ?? 1)
    }

    func close() async {
        await gateway.stopped()
        try? FileManager.default.removeItem(at: folder)
    }
}
