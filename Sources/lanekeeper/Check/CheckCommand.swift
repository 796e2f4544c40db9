import CardRules
import Foundation
import LaneStore
import Lanes
import Operations
import PushPool
import TLS

/// `lanekeeper check`: tries out everything that `serve` will need, without a push.
struct CheckCommand: Sendable {
    let options: ConfiguredOptions
    private let clock = MachineClock()

    static let usage = """
        lanekeeper check: reads the configuration, opens the store, signs a token, connects to both gateways

          A line for each; what is wrong comes with what to do. Nothing is pushed. Exit 1 when something is wrong.

        \(ConfiguredOptions.usage)
          --print                 prints the configuration that would be used, annotated, passwords left out, and no more
          --json                  the findings as JSON; with --print the configuration
        """

    init(_ words: [String]) throws(WrongUse) {
        options = try ConfiguredOptions(words, of: "check", flags: ["--print"])
    }

    struct Finding: Equatable, Sendable {
        let what: String
        let isGood: Bool
        let detail: String
    }

    /// - Returns: what to say on standard output, and the exit code.
    /// - Throws: `WrongUse` for a file that cannot be read.
    func run() async throws -> (lines: [String], code: Int32) {
        let configuration: Configuration
        var findings: [Finding] = []
        do {
            let read = try options.read()
            configuration = read.configuration
            if options.flags.contains("--print") {
                return ([options.isJSON ? jsonText(configuration.json) : configuration.annotated], 0)
            }
            let source = options.configurationFile ?? "defaults, environment and --set"
            findings.append(Finding(what: "configuration", isGood: true, detail: source))
            for remark in read.remarks { findings.append(Finding(what: "environment", isGood: true, detail: remark)) }
        } catch let error as ConfigurationFaults {
            findings = error.faults.map { Finding(what: "configuration", isGood: false, detail: "\($0)") }
            return (text(findings), 1)
        }
        if configuration.apps.isEmpty {
            findings.append(
                Finding(
                    what: "apps", isGood: false, detail: "none is configured: no phone can be reached; add one to apps")
            )
        }
        findings.append(await store(configuration))
        findings += keys(configuration)
        if let tls = tls(configuration) { findings.append(tls) }
        if let untrusted = certificates(configuration) {
            // No gateway is to blame for it.
            findings.append(untrusted)
        } else {
            for gateway in Gateway.allCases { findings.append(await self.gateway(gateway, configuration)) }
        }
        return (text(findings), findings.allSatisfy(\.isGood) ? 0 : 1)
    }

    // MARK: - Parts

    private func store(_ configuration: Configuration) async -> Finding {
        let url = configuration.store.url.value
        if case .sqlite(let path) = url, !FileManager.default.fileExists(atPath: path) {
            // Made here it would belong to whoever checks, not to whoever serves.
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let isWritable = FileManager.default.isWritableFile(atPath: folder)
            return Finding(
                what: "store", isGood: isWritable,
                detail: isWritable
                    ? "\(url.shown) is not there yet; serve will make it"
                    : "\(url.shown): \(folder) is no folder that this user may write in; make it, or set store.url")
        }
        do {
            await (try openStore(configuration, random: try MachineRandom.fresh())).close()
            return Finding(what: "store", isGood: true, detail: "\(url.shown) was opened")
        } catch let fault as StoreFault where fault.isInUse {
            return Finding(what: "store", isGood: true, detail: "\(url.shown) is in use by a running lanekeeper")
        } catch {
            return Finding(what: "store", isGood: false, detail: "\(error)")
        }
    }

    private func keys(_ configuration: Configuration) -> [Finding] {
        var findings: [Finding] = []
        for app in configuration.apps {
            var checked: Set<Configuration.GatewayKey> = []
            for gateway in Gateway.allCases {
                guard let key = app.key(for: gateway) else {
                    findings.append(
                        Finding(
                            what: "key of \(app.id)", isGood: true,
                            detail: "none for \(gateway.rawValue): its tokens there get no pushes"))
                    continue
                }
                guard checked.insert(key).inserted else { continue }
                do {
                    try app.poolKey(for: gateway)?.check()
                    findings.append(Finding(what: "key of \(app.id)", isGood: true, detail: "\(key.keyID) signs"))
                } catch {
                    findings.append(
                        Finding(
                            what: "key of \(app.id)", isGood: false,
                            detail: "\(error); get the .p8 from Apple's developer account and name it in keyFile"))
                }
            }
        }
        return findings
    }

    private func tls(_ configuration: Configuration) -> Finding? {
        guard let certificate = configuration.http.tls.certificateFile, let key = configuration.http.tls.keyFile else {
            return nil
        }
        do {
            let identity = try ServerIdentity(certificateFile: certificate.path, keyFile: key.path)
            _ = try TLSContext.server(identity, protocols: ["http/1.1"])
            return Finding(what: "http.tls", isGood: true, detail: "\(certificate.written) and its key fit together")
        } catch {
            return Finding(what: "http.tls", isGood: false, detail: "\(error)")
        }
    }

    /// - Returns: what is wrong with the certificates that the gateways are judged by.
    private func certificates(_ configuration: Configuration) -> Finding? {
        do {
            _ = try TLSContext.client(trusting: configuration.trust)
            return nil
        } catch {
            return Finding(
                what: "apns.caFile", isGood: false,
                detail: "\(error); name a PEM file with the gateways' certificates, or null for the system's")
        }
    }

    private func gateway(_ gateway: Gateway, _ configuration: Configuration) async -> Finding {
        let what = "gateway \(gateway.rawValue)"
        do {
            let found = try await GatewayCheck.run(
                configuration.endpoint(of: gateway), trust: configuration.trust, timeoutSeconds: Self.gatewaySeconds,
                clock: clock)
            return Finding(
                what: what, isGood: true,
                detail: "\(configuration.apns[gateway]) at \(found.address) speaks \(found.tlsVersion) and HTTP/2, "
                    + "\(found.maxStreams) \(found.maxStreams == 1 ? "stream" : "streams") at first")
        } catch {
            return Finding(
                what: what, isGood: false,
                detail:
                    "\(configuration.apns[gateway]): \(error); is port \(configuration.apns[gateway].port) open to the "
                    + "outside, and does a proxy break TLS open?")
        }
    }

    private static let gatewaySeconds = 10.0

    // MARK: - Text

    private func text(_ findings: [Finding]) -> [String] {
        guard options.isJSON else {
            return findings.map { "\($0.isGood ? "ok   " : "FAULT")  \($0.what): \(oneLine($0.detail))" }
        }
        let all = findings.map { finding in
            JSONValue.object([
                "check": .string(finding.what), "ok": .bool(finding.isGood), "detail": .string(finding.detail),
            ])
        }
        return [jsonText(.object(["ok": .bool(findings.allSatisfy(\.isGood)), "findings": .array(all)]))]
    }
}
