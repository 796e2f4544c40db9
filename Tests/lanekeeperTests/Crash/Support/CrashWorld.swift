import CardRules
import Foundation
import Intake
import Lanes
import Operations
import Simulation
import Synchronization
import TLS
import Testing

@testable import lanekeeper

/// A world in which `lanekeeper serve` can be killed: gateway, phones and store live on in the test's process or beside it,
/// and judge what the programs that came and went have done.
///
/// Real time passes. Ages and windows are set small by the configuration, which is rewritten between two programs.
final class CrashWorld: Sendable {
    let fleet: PhoneFleet
    let witness: Witness
    let line: HeldLine
    let store: any CrashStore
    let calls: AppCalls
    let folder: URL
    let clock = MachineClock()
    private let gateway: GatewayServer
    private let keys: DemoKeys
    private let connections: Int
    private let leaseSeconds: Double
    private let state: Mutex<State>
    /// Told with every failure.
    let seed: UInt64

    private struct State {
        var tuning: [String: String]
        var storeURL: String?
        var daemon: RunningDaemon?
        var api: DemoAPI?
        var kills = 0
    }

    /// Small enough that nothing need be waited for, and without the gap between two starts (S10): a second start must be
    /// held back by better reasons.
    static let quick: [String: String] = [
        "authority.syncHoldSeconds": "0", "starts.gapSeconds": "0", "starts.claimedAtOnce": "200",
        "window.afterSeconds": "0.3", "updates.gapSeconds": "0.2", "updates.urgentGapSeconds": "0.1",
        "updates.dirtySeconds": "1", "reissue.spreadSeconds": "0", "reissue.retrySeconds": "1",
        "reissue.perSecond": "20000", "gateway.slowSeconds": "1", "gateway.serverErrorSeconds": "1",
    ]

    /// - Parameters:
    ///   - profiles: made with the time at which the world begins.
    ///   - tuning: beside `quick`.
    ///   - leaseSeconds: of a node of a cluster: a killed one's partitions are free after that.
    ///   - connections: to the gateway. With one, every push takes the line that is open already.
    init(
        _ makeStore: (URL) async throws -> any CrashStore, seed: UInt64, tuning: [String: String] = [:],
        connections: Int = 4, leaseSeconds: Double = 2.5,
        profiles: (WallTime) -> [PhoneProfile]
    ) async throws {
        (self.seed, self.connections, self.leaseSeconds) = (seed, connections, leaseSeconds)
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("lanekeeper-crash-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var options = PhoneOptions()
        options.updateTokenSeconds = 0.05...0.5
        options.logLinesKept = 0
        options.startBudget = 100
        // As `quick` has them.
        var judged = Tuning()
        judged.authority.syncHoldSeconds = 0
        judged.starts.gapSeconds = 0
        fleet = PhoneFleet(
            profiles: profiles(clock.now), seed: seed, options: options, judge: Judge(tuning: judged))
        witness = Witness(fleet)
        calls = AppCalls(fleet: fleet, clock: clock)
        let keyPEM = try SigningKey.freshPEM()
        let verifying = try VerifyingKey(pem: keyPEM)
        var gatewayOptions = GatewayOptions()
        gatewayOptions.keys = [
            ProviderKey(keyID: DemoWorld.keyID, teamID: DemoWorld.teamID) { verifying.isValid($1, of: $0) }
        ]
        let clock = clock
        gateway = try GatewayServer(
            backend: witness, identity: try ServerIdentity.selfSigned(now: clock.now.unixSeconds),
            options: gatewayOptions, seed: seed, now: { clock.now })
        try Data(keyPEM.utf8).write(to: folder.appendingPathComponent("key.p8"))
        try Data(gateway.certificatePEM.utf8).write(to: folder.appendingPathComponent("gateway.pem"))
        line = try HeldLine(to: Int(try #require(gateway.address(of: .production)).port))
        keys = try DemoKeys()
        store = try await makeStore(folder)
        state = Mutex(State(tuning: Self.quick.merging(tuning) { $1 }))
    }

    /// Runs a test in it: phones live and call meanwhile, and everything is put away afterwards.
    func live(_ body: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    while !Task.isCancelled {
                        for report in fleet.run(until: clock.now) { calls.take(report) }
                        calls.passTime()
                        try? await clock.sleep(until: clock.now.advanced(bySeconds: 0.01))
                    }
                }
                try await body()
                group.cancelAll()
            }
        } catch {
            await close()
            throw error
        }
        await close()
    }

    private func close() async {
        witness.callOff()
        for direction in [HeldLine.Direction.toServer, .toProgram] { line.letGo(direction) }
        try? await store.thaw()
        if let daemon = daemon {
            daemon.send(SIGKILL)
            _ = await daemon.ended()
        }
        await api?.close()
        line.close()
        await gateway.stopped()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: - The program

    var daemon: RunningDaemon? { state.withLock { $0.daemon } }
    var api: DemoAPI? { state.withLock { $0.api } }
    var kills: Int { state.withLock { $0.kills } }

    /// Values for the program that is begun next, or reads its configuration next.
    func tune(_ tuning: [String: String]) throws {
        state.withLock { $0.tuning.merge(tuning) { $1 } }
        try writeConfiguration()
    }

    /// Another way to the same store.
    func useStore(url: String) { state.withLock { $0.storeURL = url } }

    /// Begins one, waits until it is ready, and leads the phones to it.
    /// - Returns: seconds that it took.
    @discardableResult
    func begin() async throws -> Double {
        let since = clock.uptime
        let url = state.withLock { $0.storeURL } ?? store.url
        // Its first updates leave before it is known to be ready.
        fleet.withJudge { [clock] in $0.serverRestarts(at: clock.now) }
        let daemon = try await RunningDaemon(
            in: folder, configuration: configuration(), flags: ["--migrate", "--set", "store.url=\(url)"])
        guard await daemon.logged("ready") != nil else { throw CrashFault("it did not become ready") }
        let address = try #require(ClientAddress(daemon.address))
        let api = try DemoAPI(DemoAccess(address: address, keys: keys))
        let before = state.withLock { state in
            defer { (state.daemon, state.api) = (daemon, api) }
            return state.api
        }
        await before?.close()
        // In a cluster its partitions come when the lease of the one before is over.
        try await until("it is ready for calls") { await isReady() == true }
        calls.connect(to: api)
        return clock.uptime.seconds(since: since)
    }

    /// One more beside it, on the same store; it has to be put away by whoever begins it.
    func beginAnother() async throws -> (daemon: RunningDaemon, api: DemoAPI) {
        let daemon = try await RunningDaemon(
            in: folder, configuration: configuration(),
            flags: ["--set", "store.url=\(store.url)", "--set", "cluster.node=other"])
        return (daemon, try DemoAPI(DemoAccess(address: try #require(ClientAddress(daemon.address)), keys: keys)))
    }

    /// SIGKILL. To be followed by `died`; from any thread.
    func kill() {
        daemon?.send(SIGKILL)
    }

    /// Returns when it is gone for good.
    func died() async {
        guard let daemon else { return }
        #expect(await daemon.ended() == (SIGKILL, true))
        state.withLock {
            $0.daemon = nil
            $0.kills += 1
        }
    }

    private func writeConfiguration() throws {
        try Data(configuration().utf8).write(to: folder.appendingPathComponent(RunningDaemon.configurationName))
    }

    private func configuration() -> String {
        let tuning = state.withLock { $0.tuning }
        let keys = keys.configured.map { key in
            let scopes = key.scopes.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            return "{ name: '\(key.name)', scopes: [\(scopes)], sha256: '\(hexText(key.sha256.value))' }"
        }
        return """
            {
              http: { keys: [\(keys.joined(separator: ", "))] },
              apps: [ { id: 'lineup', bundleID: '\(DemoWorld.bundleID)', teamID: '\(DemoWorld.teamID)',
                keyID: '\(DemoWorld.keyID)', keyFile: 'key.p8', slateAttributesType: 'LineupAttributes' } ],
              apns: { caFile: 'gateway.pem', connections: \(connections), perTokenPerSecond: 0, perSecond: 100000, timeoutSeconds: 10,
                gateways: { production: { url: 'https://127.0.0.1:\(line.port)' },
                  sandbox: { url: 'https://127.0.0.1:\(line.port)' } } },
              tuning: { \(nested(tuning)) },
              cluster: { leaseSeconds: \(leaseSeconds) },
              log: { format: 'text' },
            }
            """
    }

    /// `a.b: 1` as `a: { b: 1 }`.
    private func nested(_ values: [String: String]) -> String {
        Dictionary(grouping: values) { $0.key.split(separator: ".")[0] }.sorted { $0.key < $1.key }.map { group in
            let members = group.value.map { "\($0.key.split(separator: ".")[1]): \($0.value)" }.sorted()
            return "\(group.key): { \(members.joined(separator: ", ")) }"
        }.joined(separator: ", ")
    }
}

struct CrashFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
