import CardRules
import Foundation
import Lanes
import Operations
import Synchronization

@testable import lanekeeper

/// Several daemons on one database, and the apps and the feed that talk to whichever of them answers.
final class ClusterDriver: Sendable {
    struct Node: Sendable {
        let daemon: RunningDaemon
        let client: HTTPClient
    }

    let folder: URL
    let gateway: CountingGateway
    let clock = MachineClock()
    private let configuration: String
    private let state = Mutex(State())

    private struct State {
        var nodes: [String: Node] = [:]
        /// Those that calls go to.
        var talking: [String] = []
        var next = 0
        var reported: Set<Int> = []
    }

    init(in folder: URL, gateway: CountingGateway, configuration: String) {
        (self.folder, self.gateway, self.configuration) = (folder, gateway, configuration)
    }

    func start(_ name: String) async throws {
        let daemon = try await RunningDaemon(
            in: folder, configuration: configuration, flags: ["--migrate", "--set", "cluster.node=\(name)"])
        guard let address = ClientAddress(daemon.address) else { return }
        var client = ClientConfiguration(address, key: PostgresDaemonTests.key)
        client.timeoutSeconds = 6
        client.connectSeconds = 2
        let node = Node(daemon: daemon, client: try HTTPClient(client))
        state.withLock { state in
            state.nodes[name] = node
            state.talking.append(name)
        }
    }

    func signal(_ name: String, _ signal: Int32) { node(name)?.daemon.send(signal) }

    /// Calls go elsewhere, as a load balancer would have it.
    func avoid(_ name: String) { state.withLock { $0.talking.removeAll { $0 == name } } }

    func useAgain(_ name: String) { state.withLock { $0.talking.append(name) } }

    func ended(_ name: String) async -> (code: Int32, wasKilled: Bool)? {
        await node(name)?.daemon.ended()
    }

    func node(_ name: String) -> Node? { state.withLock { $0.nodes[name] } }

    func close() async {
        for node in state.withLock({ Array($0.nodes.values) }) {
            node.daemon.send(SIGCONT)
            node.daemon.send(SIGKILL)
            _ = await node.daemon.ended()
            await node.client.stopped()
        }
    }

    // MARK: - Calls

    /// Until somebody answers, and with something else than "try again".
    @discardableResult
    func call(_ request: ClientRequest) async throws -> ClientResponse {
        while true {
            let client = state.withLock { state -> HTTPClient? in
                guard !state.talking.isEmpty else { return nil }
                state.next += 1
                return state.nodes[state.talking[state.next % state.talking.count]]?.client
            }
            if let client, let answer = try? await client.send(request), answer.status != 503 { return answer }
            try await clock.sleep(until: clock.now.advanced(bySeconds: 0.02))
        }
    }

    func register(_ numbers: ClosedRange<Int>) async throws -> [Int] {
        try await many(numbers) { number in
            try await self.call(
                .json("PUT", "/v1/devices/d\(number)", Array(PostgresDaemonTests.device(number).utf8))
            ).status == 204
        }
    }

    /// - Returns: those for which it was not so.
    func many(
        _ numbers: some Collection<Int> & Sendable, _ body: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            var failed: [Int] = []
            for (place, number) in numbers.enumerated() {
                if place >= 12, let done = try await group.next(), let done { failed.append(done) }
                group.addTask { try await body(number) ? nil : number }
            }
            for try await done in group { if let done { failed.append(done) } }
            return failed
        }
    }

    func tick(_ lines: String) async throws -> Int {
        try await call(
            ClientRequest(
                "POST", "/v1/ticks", headers: [ClientHeader("Content-Type", "application/x-ndjson")],
                body: Array(lines.utf8))
        ).status
    }

    /// Apps of phones that were sent a start report their update tokens, once each.
    func reportTokens() async throws {
        let started = Set(gateway.pushes("start").keys.compactMap { Int($0, radix: 16) })
        let new = state.withLock { state in
            let new = started.subtracting(state.reported)
            state.reported.formUnion(new)
            return new.sorted()
        }
        _ = try await many(new) { number in
            let card =
                #"{"activity":"a\#(number)","updateToken":"\#(ClusterDriver.updateToken(number))","gateway":"production","startedBy":"push"}"#
            return try await self.call(.json("PUT", "/v1/devices/d\(number)/cards/slate", Array(card.utf8)))
                .status == 204
        }
    }

    static func updateToken(_ number: Int) -> String { "aa" + PostgresDaemonTests.token(number) }

    /// How many partitions a node says that it runs.
    func owned(_ name: String) async -> Int? {
        guard let node = node(name), let answer = try? await node.client.send(ClientRequest("GET", "/metrics")) else {
            return nil
        }
        let line = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("lanekeeper_lease_owned ") }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    func isReady(_ name: String) async -> Bool {
        guard let node = node(name) else { return false }
        return (try? await node.client.send(ClientRequest("GET", "/readyz")))?.status == 200
    }

    /// Waits until these nodes run all partitions between them, and are ready.
    /// - Returns: seconds that it took.
    func untilAllOwned(by names: [String]) async throws -> Double {
        let began = clock.uptime
        while true {
            var owned = 0
            var areReady = true
            for name in names {
                owned += await self.owned(name) ?? 0
                areReady = await isReady(name) && areReady
            }
            if owned == partitionCount, areReady { return clock.uptime.seconds(since: began) }
            try await clock.sleep(until: clock.now.advanced(bySeconds: 0.05))
        }
    }
}
