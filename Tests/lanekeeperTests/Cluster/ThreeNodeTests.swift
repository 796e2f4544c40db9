import CardRules
import Foundation
import Lanes
import Operations
import PrivatePostgres
import Testing

@testable import lanekeeper

/// Three real daemons on one PostgreSQL, judged by what reaches the phones.
///
/// `LANEKEEPER_CLUSTER_PHONES=10000` makes it a measurement: the figures are printed.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(15))) struct ThreeNodeTests {
    private static let phones =
        ProcessInfo.processInfo.environment["LANEKEEPER_CLUSTER_PHONES"].flatMap { Int($0) } ?? 400
    private static let leaseSeconds = 4.0
    /// Each goal is an update to every card: no more than a debug build and one gateway can take.
    private static let tickSeconds = max(0.1, Double(phones) / 2000)

    @Test
    func
        `known fault 19: one node killed, one paused past its lease and resumed, one added: no phone is started twice`()
        async throws
    {
        let postgres = try await PrivateCluster.start()
        try await BuiltProgram.inFolder { folder in
            let gateway = try CountingGateway(in: folder)
            let text = PostgresDaemonTests.configuration(
                gateway, store: postgres.url(), leaseSeconds: Self.leaseSeconds)
            let driver = ClusterDriver(in: folder, gateway: gateway, configuration: text)
            do {
                for name in ["a", "b", "c"] { try await driver.start(name) }
                try await night(driver, gateway)
            } catch {
                await driver.close()
                throw error
            }
            await driver.close()
            await gateway.stop()
        }
        try await postgres.stop("immediate")
    }

    /// The feed: a goal a tick, from whichever node takes it, while `body` lasts.
    private func during(
        _ driver: ClusterDriver, from score: Int, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                var score = score
                while !Task.isCancelled {
                    score += 1
                    let now = Int(driver.clock.now.unixSeconds)
                    _ = try? await driver.tick(PostgresDaemonTests.tick("g1", home: score, at: now))
                    try? await driver.clock.sleep(until: driver.clock.now.advanced(bySeconds: Self.tickSeconds))
                }
                return score
            }
            group.addTask {
                try await body()
                return nil
            }
            var last = score
            for try await end in group {
                if let end { last = end } else { group.cancelAll() }
            }
            return last
        }
    }

    private func say(_ text: String) { print("three nodes, \(Self.phones) phones: \(text)") }

    private func night(_ driver: ClusterDriver, _ gateway: CountingGateway) async throws {
        let third = Self.phones / 4
        say("owned by three after \(try await driver.untilAllOwned(by: ["a", "b", "c"])) s")
        let now = Int(driver.clock.now.unixSeconds)
        #expect(try await driver.tick(PostgresDaemonTests.tick("g1", home: 0, at: now)) == 200)
        #expect(try await driver.register(1...third).isEmpty)
        await gateway.waitForStarts(third)

        // One is killed while phones come and games are played.
        var score = try await during(driver, from: 0) {
            async let registered = driver.register(third + 1...2 * third)
            await gateway.waitForStarts(third + third / 4)
            driver.avoid("a")
            driver.signal("a", SIGKILL)
            let seconds = try await driver.untilAllOwned(by: ["b", "c"])
            say("a killed: all owned again after \(seconds) s; a lease is \(Self.leaseSeconds) s")
            #expect(try await registered.isEmpty)
            try await driver.reportTokens()
        }

        // One is paused past its lease, and goes on.
        score = try await during(driver, from: score) {
            async let registered = driver.register(2 * third + 1...3 * third)
            driver.avoid("b")
            driver.signal("b", SIGSTOP)
            let seconds = try await driver.untilAllOwned(by: ["c"])
            say("b paused: all owned again after \(seconds) s")
            #expect(try await registered.isEmpty)
            driver.signal("b", SIGCONT)
            driver.useAgain("b")
            say("b resumed: shared again after \(try await driver.untilAllOwned(by: ["b", "c"])) s")
            try await driver.reportTokens()
        }

        // One is added, and one goes in order.
        score = try await during(driver, from: score) {
            async let registered = driver.register(3 * third + 1...4 * third)
            try await driver.start("d")
            say("d added: shared by three after \(try await driver.untilAllOwned(by: ["b", "c", "d"])) s")
            driver.avoid("c")
            driver.signal("c", SIGTERM)
            say("c stopped: all owned after \(try await driver.untilAllOwned(by: ["b", "d"])) s")
            #expect(await driver.ended("c")?.code == 0)
            #expect(try await registered.isEmpty)
        }

        try await settle(driver, gateway, phones: 4 * third, score: score)
    }

    private func settle(
        _ driver: ClusterDriver, _ gateway: CountingGateway, phones: Int, score: Int
    ) async throws {
        // A start that was claimed when its node was killed stays spent (L10): the phone may not have seen it.
        var missing = 0
        while true {
            missing = phones - gateway.pushes("start").count
            let spent = try await driver.many(1...phones) { number in
                if gateway.pushes("start")[PostgresDaemonTests.token(number)] != nil { return true }
                let answer = try await driver.call(ClientRequest("GET", "/v1/devices/d\(number)"))
                return String(decoding: answer.body, as: UTF8.self).contains("\"sent\":1")
            }
            if spent.isEmpty { break }
            try await driver.clock.sleep(until: driver.clock.now.advanced(bySeconds: 0.2))
        }
        try await driver.reportTokens()
        let starts = gateway.pushes("start")
        say(
            "\(starts.count) phones started, \(missing) claimed by the killed node and unanswered, twice: \(starts.values.count { $0 > 1 })"
        )
        #expect(starts.values.allSatisfy { $0 == 1 })
        // One whose verdict was on its way when it was looked at may have come since.
        #expect(starts.count + missing >= phones && missing <= phones / 20, "\(missing)")

        // Both nodes know the last score, and the end reaches every card.
        let now = Int(driver.clock.now.unixSeconds)
        let last = #"{"t":\#(now + 1),"type":"score","game":"g1","home":\#(score + 7),"away":0,"phase":"final"}"#
        #expect(try await driver.tick(last) == 200)
        for name in ["b", "d"] {
            let slate = try await driver.node(name)?.daemon.poll("/v1/slate", key: PostgresDaemonTests.key) {
                $0.contains("\"homeScore\":\(score + 7)")
            }
            #expect(slate?.hasSuffix(" 200") == true)
        }
        let shown = { gateway.pushes("update").keys.filter { $0.hasPrefix("aa") }.count }
        while shown() < starts.count { try await driver.clock.sleep(until: driver.clock.now.advanced(bySeconds: 0.05)) }
        say("\(shown()) cards were updated")
        for name in ["b", "d"] {
            driver.signal(name, SIGTERM)
            #expect(await driver.ended(name)?.code == 0)
        }
    }
}
