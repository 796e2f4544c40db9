import Foundation
import PushWire
import TLS

struct Round: Codable {
    let h2load: Measured
    let pool: Measured
    /// Of fewer pushes (`Options.peerPushes`).
    var peer: Measured?
}

/// Runs both clients by turns, the first one changing, so that neither always has the warmer machine.
struct Comparison {
    let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> [Round] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("push-throughput-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let h2load = try h2loadArguments(in: folder)
        let pool = poolArguments()
        let output = folder.appendingPathComponent("output").path
        var rounds: [Round] = []
        for number in 0..<options.rounds {
            say("round \(number + 1) of \(options.rounds)")
            let isOursFirst = number % 2 == 1
            let early = isOursFirst ? try runPool(pool, output) : nil
            let other = try runH2load(h2load, output)
            var round = Round(h2load: other, pool: try early ?? runPool(pool, output))
            if options.peer != nil {
                round.peer = try Measured.run(
                    options.peerProgram, [options.peerScript] + arguments(pushes: options.peerPushes), output: output)
            }
            rounds.append(round)
        }
        return rounds
    }

    private func runPool(_ arguments: [String], _ output: String) throws -> Measured {
        try Measured.run(CommandLine.arguments[0], arguments, output: output)
    }

    private func runH2load(_ arguments: [String], _ output: String) throws -> Measured {
        let measured = try Measured.run(options.h2load, arguments, output: output)
        let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard said.contains("status codes: \(options.pushes) 2xx, 0 3xx, 0 4xx, 0 5xx") else {
            throw Failure(description: "h2load was refused: \(said.suffix(2000))")
        }
        return measured
    }

    private func poolArguments() -> [String] { ["--alone"] + arguments(pushes: options.pushes) }

    private func arguments(pushes: Int) -> [String] {
        [
            "--port", "\(options.port)", "--certificate", options.certificate, "--provider-key",
            options.providerKey, "--key-id", options.keyID, "--team-id", options.teamID, "--pushes",
            "\(pushes)", "--connections", "\(options.connections)", "--streams", "\(options.streams)",
        ]
    }

    /// The header fields are those that the pool sends. h2load cannot change them between requests, and its library would
    /// write a byte each for `apns-id` and `apns-expiration`, where the pool writes them out: they go under names of the same
    /// cost that nghttp2 never puts into its table, so that both clients do the same work.
    private func h2loadArguments(in folder: URL) throws -> [String] {
        let now = Int64(Date().timeIntervalSince1970)
        let key = try SigningKey(pem: SigningKey.pem(file: options.providerKey))
        let token = try ProviderTokenClaims(keyID: options.keyID, teamID: options.teamID, issuedAt: now)
            .signed { try key.signature(of: $0) }
        let body = folder.appendingPathComponent("body")
        try Data(Workload.payload).write(to: body)
        let paths = folder.appendingPathComponent("paths")
        let request = Workload.request(0, expiration: now + 600)
        let fields = headers(of: request, providerToken: token, authority: Array("127.0.0.1:\(options.port)".utf8))
        let lines = (0..<min(options.pushes, 20_000)).map { number -> String in
            let hex = Workload.token(number).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return "https://127.0.0.1:\(options.port)/3/device/\(hex)"
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: paths)
        var arguments = [
            "-n", "\(options.pushes)", "-c", "\(options.connections)", "-m", "\(options.streams)", "-d", body.path,
            "-i",
            paths.path,
        ]
        for field in fields {
            let name = field.name.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
            if name.hasPrefix(":") { continue }
            let sent = ["apns-id": "if-none-match", "apns-expiration": "age"][name] ?? name
            arguments += ["-H", "\(sent): \(String(decoding: field.value, as: UTF8.self))"]
        }
        return arguments
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("push-throughput: \(text)\n".utf8)) }
}
