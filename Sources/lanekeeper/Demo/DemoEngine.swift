import CardRules
import Intake
import LaneStore
import Lanes
import PushPool
import PushWire
import Simulation
import Synchronization
import TLS

/// The system itself, wired as in production: store, push pool, supervisor with its lanes.
struct DemoEngine: Sendable {
    static let app = AppProfile(
        id: AppID(unchecked: "lineup"), bundleID: DemoWorld.bundleID, slateAttributesType: "LineupAttributes")

    let store: SQLiteStore
    let pool: PushPool
    let supervisor: Supervisor
    private let zones = ZoneDirectory()

    /// - Parameters:
    ///   - speed: virtual seconds in a real one; deadlines of the network are stretched by it.
    ///   - incarnation: counts the systems built over one store: each draws other ids for its pushes.
    /// - Throws: `StoreError` for the file, `KeyError`, `TLSError` or `SocketError` for the pool.
    init(in world: DemoWorld, speed: Double, tuning: Tuning, trace: any Trace, incarnation: UInt64 = 0) throws {
        var endpoints: [Gateway: PushPool.Configuration.Endpoint] = [:]
        for side in Gateway.allCases {
            if let address = world.gateway.address(of: side) {
                endpoints[side] = PushPool.Configuration.Endpoint(host: "127.0.0.1", port: address.port)
            }
        }
        var configuration = PushPool.Configuration(
            gateways: endpoints, trust: .pem(world.gateway.certificatePEM),
            keys: .one(.init(pem: world.keyPEM, keyID: DemoWorld.keyID, teamID: DemoWorld.teamID)))
        configuration.timeoutSeconds = 30 * max(1, speed)
        // A clock that only moves when nothing is in flight must not be waited for.
        configuration.perSecond = 1e9
        configuration.perTokenPerSecond = 0
        store = try SQLiteStore.open(path: world.storePath)
        pool = try PushPool(
            configuration: configuration, clock: world.clock,
            random: SeededRandom(seed: ~world.seed &+ incarnation << 32))
        supervisor = Supervisor(
            configuration: Supervisor.Configuration(tuning: tuning, apps: [DemoEngine.app]),
            store: store, pusher: pool, clock: world.clock, random: SeededRandom(seed: world.seed &+ incarnation << 32),
            trace: trace,
            zone: { [zones] in zones.zone(named: $0) })
    }

    /// Takes what a simulated app reports; `done` is called when it is durable, and not at all where it is not.
    func take(_ report: PhoneReport, done: @escaping @Sendable () -> Void) {
        let call = call(for: report, app: DemoEngine.app.id, zones: zones)
        supervisor.submit(
            DeviceCall(device: call.device, app: call.app, event: call.event) { answer in
                switch answer {
                case .done, .staleSelection, .unknownDevice, .unknownCard: done()
                case .unavailable, .overloaded: break
                }
            })
    }

    /// The end of everything, in order: what waits is answered first.
    func close() async {
        await pool.stop()
        await store.close()
    }
}

/// The random port from a seed.
final class SeededRandom: RandomSource {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
