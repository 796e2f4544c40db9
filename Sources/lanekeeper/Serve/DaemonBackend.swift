import Intake
import Operations

/// What the API asks the daemon itself.
struct DaemonBackend: APIBackend {
    let status: DaemonStatus
    let metrics: SystemMetrics

    var readiness: APIReadiness { APIReadiness(reasons: status.obstacles) }

    func metrics() async -> [UInt8] { Array(await metrics.registry.text().utf8) }
}

extension APIHandler: ServedCalls {
    func close() { close(because: "the daemon is stopping") }
}

extension Configuration.HTTP {
    /// The keys as the API wants them. A digest of another length than SHA-256's was refused when the configuration was read.
    var calledKeys: [Intake.APIKey] {
        keys.compactMap { key in
            let scopes = key.scopes.compactMap { Intake.APIScope(rawValue: $0.rawValue) }
            return Intake.APIKey(name: key.name, scopes: Set(scopes), digest: key.sha256.value)
        }
    }
}
