import Foundation
import Synchronization
import TLS
import WebServer

@testable import lanekeeper

/// The daemon's own web server, with answers that a test gives.
final class AnsweringServer: Sendable {
    let server: WebServer
    private let handler: Handler
    private let files: KeyFiles?

    /// - Parameter answer: what becomes of a request; called on the server's thread. One that does nothing with its
    ///   exchange answers 500; one that keeps it parks it.
    init(
        configuration: WebServerConfiguration = WebServerConfiguration(), encrypted: Bool = false,
        _ answer: @escaping @Sendable (WebRequest, any WebExchange) -> Void
    ) throws {
        var configuration = configuration
        configuration.stopSeconds = 1
        files = encrypted ? try KeyFiles() : nil
        if let files {
            configuration.tls = .init(certificateFile: files.certificate, keyFile: files.key)
        }
        handler = Handler(answer)
        let clock = WebServerClock(
            nanoseconds: { Int64(DispatchTime.now().uptimeNanoseconds) }, unixSeconds: { 784_111_777 })
        server = try WebServer(
            on: .loopback(port: 0), configuration: configuration, handler: handler, clock: clock)
    }

    /// Where it is, as `--url` takes it.
    var url: String { "\(files == nil ? "http" : "https")://127.0.0.1:\(server.address.port)" }

    var caFile: String? { files?.certificate }

    /// What was asked, in order.
    var requests: [WebRequest] { handler.requests.withLock { $0 } }

    func client(_ change: (inout ClientConfiguration) -> Void = { _ in }) throws -> HTTPClient {
        guard let address = ClientAddress(url) else { throw ClientError.badRequest(url) }
        var configuration = ClientConfiguration(address, key: "a-key", caFile: caFile)
        change(&configuration)
        return try HTTPClient(configuration)
    }

    func stop() async { await server.stopped() }

    private final class Handler: WebHandler {
        let requests = Mutex<[WebRequest]>([])
        private let answer: @Sendable (WebRequest, any WebExchange) -> Void

        init(_ answer: @escaping @Sendable (WebRequest, any WebExchange) -> Void) { self.answer = answer }

        func admit(_ head: WebRequestHead) -> WebAdmission { .bodyOf(maximumBytes: 8 << 20) }

        func take(_ request: WebRequest, _ exchange: any WebExchange) {
            requests.withLock { $0.append(request) }
            answer(request, exchange)
        }

        func refusal(status: Int, detail: String) -> WebAnswer {
            WebAnswer(status: status, body: Array(detail.utf8))
        }
    }
}

/// A self-signed certificate for this machine and its key, in files that go with it.
final class KeyFiles: Sendable {
    let certificate: String
    let key: String
    private let folder: URL

    init() throws {
        let identity = try ServerIdentity.selfSigned(now: Int64(Date().timeIntervalSince1970))
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("lanekeeper-client-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appendingPathComponent("cert.pem").path
        key = folder.appendingPathComponent("key.pem").path
        try Data(identity.certificatePEM.utf8).write(to: URL(fileURLWithPath: certificate))
        try Data(identity.keyPEM.utf8).write(to: URL(fileURLWithPath: key))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Things that come one by one from other threads, awaited by a test.
final class Arrivals<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func add(_ element: Element) { continuation.yield(element) }

    func next() async -> Element? {
        for await element in stream { return element }
        return nil
    }

    func next(_ count: Int) async -> [Element] {
        var found: [Element] = []
        guard count > 0 else { return found }
        for await element in stream {
            found.append(element)
            if found.count == count { break }
        }
        return found
    }
}
