import CardRules
import Foundation
import Lanes
import Simulation
import TLS

/// The outside of a demo: simulated phones, the simulated gateway over TLS, and the folder that the store's file is in.
/// It lives on when the system is dropped and built again.
struct DemoWorld: Sendable {
    static let bundleID = "com.example.lineup"
    static let keyID = "KEY1234567"
    static let teamID = "TEAM123456"

    let fleet: PhoneFleet
    let gateway: GatewayServer
    let clock: any WallClock & SteadyClock
    /// The provider key, PEM.
    let keyPEM: String
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
        keyPEM = try SigningKey.freshPEM()
        let verifying = try VerifyingKey(pem: keyPEM)
        var options = GatewayOptions()
        options.keys = [
            ProviderKey(keyID: DemoWorld.keyID, teamID: DemoWorld.teamID) { message, signature in
                verifying.isValid(signature, of: message)
            }
        ]
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("lanekeeper-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            gateway = try GatewayServer(
                backend: fleet, identity: try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970)),
                options: options, seed: seed, now: { clock.now })
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
        self.fleet = fleet
        self.clock = clock
        self.seed = seed
    }

    var storePath: String { folder.appendingPathComponent("lanekeeper.db").path }

    func close() async {
        await gateway.stopped()
        try? FileManager.default.removeItem(at: folder)
    }
}
