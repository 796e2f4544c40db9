import CardRules
import Foundation
import Lanes
import Simulation
import Testing

@testable import LaneStore

extension ClusterNode {
    fileprivate var hasItsThird: Bool { (21...22).contains(system.partitions.owned) && system.partitions.loading == 0 }
}

/// A deploy over three nodes, judged by how long phones hear nothing. How long that is is said, not asserted.
///
/// `LANEKEEPER_HANDOVER_PHONES=64000` makes it a measurement of partitions with that many lanes in all.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HandoverTests {
    private static let followed = 128
    private static let phones = max(
        followed, ProcessInfo.processInfo.environment["LANEKEEPER_HANDOVER_PHONES"].flatMap { Int($0) } ?? 0)

    /// Each goal is a sweep of all lanes and an update to all that are followed: no more than a debug build can take.
    private static let tickSeconds = max(0.05, Double(phones) / 10_000)

    /// The feed: a goal at a time, taken by whichever of the nodes stays, while `body` lasts.
    private func playing(
        on node: ClusterNode, from score: Int, _ body: () async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var score = score
                while !Task.isCancelled {
                    score += 1
                    try await node.play("g1", goals: score)
                    try? await node.clock.sleep(until: node.clock.now.advanced(bySeconds: Self.tickSeconds))
                }
                return score
            }
            do { try await body() } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            return try await group.next() ?? score
        }
    }

    /// The longest time without an update, of each phone that is followed.
    private func silences(_ phones: ClusterPhones, since: SteadyTime, until end: SteadyTime) -> [Double] {
        let times = phones.times(of: .update, since: since)
        return devices(Self.followed).map { device in
            let all = [since] + (times[device] ?? []) + [end]
            return zip(all, all.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
        }.sorted()
    }

    /// From here on the database notes when each partition is given up and taken.
    private func noteLeases(_ schema: TestSchema) async throws {
        for line in [
            "CREATE TABLE lease_log (partition int, holder bigint, at timestamptz)",
            """
            CREATE FUNCTION note_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO lease_log VALUES (NEW.partition, NEW.holder, clock_timestamp()); RETURN NULL; END $$
            """,
            """
            CREATE TRIGGER note_lease AFTER UPDATE OF holder ON lease FOR EACH ROW
            WHEN (OLD.holder IS DISTINCT FROM NEW.holder) EXECUTE FUNCTION note_lease()
            """,
        ] { _ = try await schema.sql(line) }
    }

    /// - Returns: in milliseconds, how long the partitions were nobody's, and over what time they were given up.
    private func freeTimes(_ schema: TestSchema) async throws -> String {
        let text = try await schema.sql(
            """
            WITH steps AS (SELECT *, lead(at) OVER (PARTITION BY partition ORDER BY at) - at AS gap FROM lease_log),
            free AS (SELECT at, extract(epoch FROM gap) * 1000 AS ms FROM steps WHERE holder IS NULL)
            SELECT format('%s partitions given up within %s ms, nobody''s for %s ms at most, %s ms the middle one',
            count(*), round(extract(epoch FROM max(at) - min(at)) * 1000), round(max(ms)),
            round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms))::numeric)) FROM free
            """)
        _ = try await schema.sql("TRUNCATE lease_log")
        return text ?? ""
    }

    @Test func `a rolling deploy: each node goes in order and comes back, every card goes on, nobody is started twice`()
        async throws
    {
        let schema = try await TestSchema()
        let phones = ClusterPhones()
        let clock = ScaledClock(start: ClusterNode.evening, speed: 1)
        func node(_ name: String) async throws -> ClusterNode {
            // Whatever waited for a lease to be over, or for a renewal, would never come.
            try await ClusterNode(name, in: schema, phones: phones, clock: clock, leaseSeconds: 600)
        }
        var nodes: [ClusterNode] = []
        for name in ["a", "b", "c"] { nodes.append(try await node(name)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { await node.run() } }
            for node in nodes { try await node.until("its third") { node.hasItsThird } }
            try await noteLeases(schema)
            let followed = devices(Self.followed)
            for device in followed { #expect(await nodes[0].register(device) == .done) }
            for device in devices(Self.phones).dropFirst(Self.followed) {
                // Without a user: lanes that are loaded, and nothing is sent to.
                #expect(await nodes[0].register(device, user: nil) == .done)
            }
            try await nodes[0].play("g1", goals: 0)
            try await nodes[0].until("all starts") { phones.starts.count == followed.count }
            for device in followed {
                #expect(await nodes[0].system.answer(to: nodes[0].cardToken(device), for: device) == .done)
            }
            var score = 0
            for place in 0..<3 {
                let (old, stays) = (nodes[place], nodes[(place + 1) % 3])
                score = try await playing(on: stays, from: score) {
                    func say(_ what: String, _ body: () async throws -> Void) async throws {
                        let begin = clock.uptime
                        try await body()
                        let took = clock.uptime.seconds(since: begin)
                        // Until every phone has heard again.
                        let back = clock.uptime
                        try await stays.until("updates everywhere") {
                            phones.times(of: .update, since: back).count == followed.count
                        }
                        let gaps = silences(phones, since: begin, until: clock.uptime)
                        print(
                            "hand-over, \(Self.phones) phones: \(what) in \(took) s; longest silence of a phone: \(gaps.last ?? 0) s, of the middle one \(gaps[gaps.count / 2]) s; \(try await freeTimes(schema))"
                        )
                    }
                    try await say("nothing happens") {
                        let begin = clock.uptime
                        try await stays.until("ten updates everywhere") {
                            let times = phones.times(of: .update, since: begin)
                            return times.count == followed.count && times.values.allSatisfy { $0.count >= 10 }
                        }
                    }
                    try await say("\(old.name) goes") {
                        await old.system.leave(withinSeconds: 20)
                        try await stays.until("the others have its partitions") {
                            nodes.filter { $0 !== old }.map(\.system.partitions.owned).reduce(0, +) == partitionCount
                        }
                    }
                    await old.close()
                    try await say("another \(old.name) comes") {
                        nodes[place] = try await node(old.name)
                        let new = nodes[place]
                        group.addTask { await new.run() }
                        try await new.until("its third") { new.hasItsThird }
                    }
                }
            }
            #expect(phones.starts.count == followed.count && phones.starts.values.allSatisfy { $0 == 1 })
            for node in nodes { await node.close() }
            group.cancelAll()
        }
    }
}
