import CardRules
import Foundation
import Operations
import Simulation
import Synchronization
import TLS

/// `lanekeeper gateway`: serves until it is told to stop.
struct GatewayRun {
    let options: GatewayCommandOptions

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        StopSignals.note()
        let clock = MachineClock()
        let now: @Sendable () -> WallTime = { clock.now }
        var model = GatewayOptions()
        model.streamsAfter = options.streams
        model.requestsKept = options.requestsKept
        model.keys = try providerKeys()
        let identity = try identity(now: now())
        let backend = DeskBackend(seed: options.seed)
        let server = try GatewayServer(
            backend: backend, identity: identity, options: model,
            addresses: [
                .production: .loopback(port: options.productionPort), .sandbox: .loopback(port: options.sandboxPort),
            ], seed: options.seed, now: now)
        do {
            if let path = options.certificateOut {
                try writeFile(Data(identity.certificatePEM.utf8), to: path)
            }
            let control = GatewayControl(server: server, backend: backend, now: now)
            let port = try ControlPort(on: .loopback(port: options.controlPort)) { control.answer($0) }
            say("production \(server.url(of: .production) ?? "")")
            say("sandbox    \(server.url(of: .sandbox) ?? "")")
            say("control    \(port.address)")
            while !StopSignals.wereSent, !isOutputClosed.load(ordering: .relaxed) {
                try await clock.sleep(until: clock.now.advanced(bySeconds: 0.1))
            }
            await port.stopped()
        } catch {
            await server.stopped()
            throw error
        }
        await server.stopped()
        return 0
    }

    private func identity(now: WallTime) throws -> ServerIdentity {
        if let certificate = options.certificateFile, let key = options.keyFile {
            return try ServerIdentity(certificateFile: certificate, keyFile: key)
        }
        return try ServerIdentity.selfSigned(now: now.unixSeconds)
    }

    private func providerKeys() throws -> [ProviderKey] {
        guard let file = options.providerKeyFile, let keyID = options.keyID, let teamID = options.teamID else {
            return []
        }
        let verifying = try VerifyingKey(pem: SigningKey.pem(file: file))
        return [
            ProviderKey(keyID: keyID, teamID: teamID) { message, signature in verifying.isValid(signature, of: message)
            }
        ]
    }
}
