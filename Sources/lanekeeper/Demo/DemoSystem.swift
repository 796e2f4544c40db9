import CardRules
import Foundation
import Intake
import LaneStore
import Lanes
import PushPool
import PushWire
import Simulation
import Synchronization
import TLS

/// One run of everything on this machine: the simulated gateway and phones on one side, the system on the other, TLS
/// and HTTP/2 over loopback between them.
struct DemoSystem {
    static let app = AppProfile(
        id: AppID(unchecked: "lineup"), bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")
    static let keyID = "KEY1234567"
    static let teamID = "TEAM123456"

    let fleet: PhoneFleet
    let gateway: GatewayServer
    let store: SQLiteStore
    let pool: PushPool
    let supervisor: Supervisor
    let zones = ZoneDirectory()
    private let folder: URL

    /// - Parameter speed: virtual seconds in a real one; what waits for the network is stretched by it.
    init(
        options: DemoOptions, night: FleetNight, clock: any WallClock, speed: Double, trace: DemoTrace, tuning: Tuning
    ) throws {
        var judging = JudgeOptions()
        judging.inFlightSeconds = max(judging.inFlightSeconds, speed)
        fleet = PhoneFleet(
            handsets: options.phones, night: night, seed: options.seed, bundleID: DemoSystem.app.bundleID,
            judge: Judge(tuning: tuning, options: judging))

        let keyPEM = try SigningKey.freshPEM()
        let verifying = try VerifyingKey(pem: keyPEM)
        var gatewayOptions = GatewayOptions()
        gatewayOptions.keys = [
            ProviderKey(keyID: DemoSystem.keyID, teamID: DemoSystem.teamID) { message, signature in
                verifying.isValid(signature, of: message)
            }
        ]
        let identity = try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970))
        gateway = try GatewayServer(
            backend: fleet, identity: identity, options: gatewayOptions, seed: options.seed, now: { clock.now })

        folder = FileManager.default.temporaryDirectory.appendingPathComponent("lanekeeper-demo-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try SQLiteStore.open(path: folder.appendingPathComponent("lanekeeper.db").path)

        pool = try PushPool(
            configuration: DemoSystem.poolConfiguration(
                gateway, keyPEM: keyPEM, certificatePEM: identity.certificatePEM, speed: speed),
            clock: clock)
        supervisor = Supervisor(
            configuration: Supervisor.Configuration(tuning: tuning, apps: [DemoSystem.app], shards: 4),
            store: store, pusher: pool, clock: clock, random: SeededRandom(seed: options.seed), trace: trace,
            zone: { [zones] in zones.zone(named: $0) })
    }

    private static func poolConfiguration(
        _ gateway: GatewayServer, keyPEM: String, certificatePEM: String, speed: Double
    ) -> PushPool.Configuration {
        var endpoints: [Gateway: PushPool.Configuration.Endpoint] = [:]
        for side in Gateway.allCases {
            if let address = gateway.address(of: side) {
                endpoints[side] = PushPool.Configuration.Endpoint(host: "127.0.0.1", port: address.port)
            }
        }
        var configuration = PushPool.Configuration(
            gateways: endpoints, trust: .pem(certificatePEM), keyPEM: keyPEM, keyID: keyID, teamID: teamID)
        configuration.timeoutSeconds = 30 * max(1, speed)
        return configuration
    }

    func close() async {
        await pool.stop()
        await gateway.stopped()
        await store.close()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The random port from a seed.
final class SeededRandom: RandomSource {
    private let generator: Mutex<SeededGenerator>
    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }
    func next() -> UInt64 { generator.withLock { $0.next() } }
}
