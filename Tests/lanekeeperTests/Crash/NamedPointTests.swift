import CardRules
import Foundation
import Lanes
import Operations
import Simulation
import Testing

@testable import lanekeeper

/// SIGKILL at each named point of a push's life, judged from the phones. The points are hit from outside: the store's lock
/// is held, the wire to the gateway is held, or the gateway strikes as a push arrives; the program knows nothing of it.
@Suite(.enabled(if: BuiltProgram.url != nil)) struct NamedPointTests {
    /// Phones by what they are for.
    private enum Role: Int, CaseIterable {
        /// Its card stands before: the connection to the gateway is warm.
        case warm
        /// The one whose push is caught.
        case caught
        /// Its card comes afterwards: the program that was begun anew has had its turn.
        case after

        var game: String { "g\(rawValue)" }
        var device: DeviceID { DeviceID(unchecked: "d\(rawValue)") }
    }

    private static let caught = Role.caught.device

    private static func world(_ kind: StoreKind) async throws -> CrashWorld {
        try await CrashWorld({ try await kind.make(in: $0) }, seed: 7, connections: 1) { now in
            Role.allCases.map { role in
                PhoneProfile(
                    handset: role.rawValue, bundleID: DemoWorld.bundleID, osVersion: OSVersion(major: 18, minor: 1),
                    user: "u\(role.rawValue)", device: role.device,
                    openings: [
                        PhoneProfile.Opening(
                            at: now, seconds: 0.2,
                            choice: PhoneProfile.Choice(
                                games: [GameID(unchecked: role.game)]))
                    ])
            }
        }
    }

    /// Phones known, games announced, the warm one's card up.
    private static func prepare(_ world: CrashWorld, isWarm: Bool = true) async throws {
        try await world.begin()
        try await world.until("the phones are registered") { world.calls.counts.answered >= 2 * Role.allCases.count }
        try await world.post { now in Role.allCases.map { CrashWorld.game($0.game, at: now) } }
        guard isWarm else { return }
        try await start(.warm, in: world)
    }

    private static func start(_ role: Role, in world: CrashWorld) async throws {
        try await world.post { [CrashWorld.score(role.game, 0, at: $0)] }
        try await world.until("\(role)'s card is confirmed") { await world.states(role.device) == ["confirmed"] }
    }

    /// Whatever happened before: the program works, and every card follows the slate to its end.
    private static func finish(_ world: CrashWorld, roles: [Role] = Role.allCases) async throws {
        try await start(.after, in: world)
        try await world.post { now in roles.map { CrashWorld.score($0.game, 5, at: now) } }
        try await world.until("all cards show the score") { world.allShow(5) }
        try await world.post { now in roles.map { CrashWorld.score($0.game, 5, .final, at: now) } }
        try await world.until("no card stands") { world.cards == 0 }
        #expect(world.witness.accepted(.start) == world.startsShown)
    }

    /// The caught phone's app chooses these games.
    private static func select(_ games: [String], in world: CrashWorld) async throws {
        let list = games.map { "\"\($0)\"" }.joined(separator: ",")
        let body = "{\"games\":[\(list)],\"pinned\":null,\"muted\":[],\"syncedAt\":\(world.clock.now.unixSeconds + 1)}"
        try await world.call("PUT", "/v1/devices/\(caught)/selection", body)
    }

    private static func killed(_ world: CrashWorld) async throws {
        world.kill()
        await world.died()
        for direction in [HeldLine.Direction.toServer, .toProgram] { world.line.letGo(direction) }
        (world.store as? ServerStore)?.wire.letGo(.toProgram)
        try await world.store.thaw()
    }

    // MARK: - Starts

    enum StartPoint: String, CaseIterable, Sendable {
        case intentWritten, commitUnheard, committed, pushWritten, pushArrived, answered, verdictRecorded

        /// L10: what was claimed and never answered is spent and not repeated.
        var starts: Int { [.commitUnheard, .committed, .pushWritten].contains(self) ? 0 : 1 }

        /// A file's commit is heard of as it lands.
        static let everywhere = allCases.flatMap { point in
            StoreKind.allCases.filter { point != .commitUnheard || $0 == .postgres }.map { (point, $0) }
        }
    }

    @Test(arguments: StartPoint.everywhere)
    func `L1, L10: a start whose program is killed happens at most once, and not at all only once it was claimed`(
        point: StartPoint, kind: StoreKind
    ) async throws {
        let (world, struck) = (try await Self.world(kind), Latch())
        try await world.live {
            // A line that never was open: the pool has nowhere to write to.
            if point == .committed { world.line.hold(.toServer) }
            try await Self.prepare(world, isWarm: point != .committed)
            if point == .pushWritten { world.line.hold(.toServer) }
            if point == .intentWritten { try await world.store.freeze() }
            let server = world.store as? ServerStore
            if point == .commitUnheard { server?.wire.holdAnswers(after: "\u{0}claims\u{0}") }
            if [.pushArrived, .answered, .verdictRecorded].contains(point) {
                world.witness.strike(afterNext: 1, .start) {
                    world.line.hold(.toProgram)
                    struck.open()
                }
            }
            async let posted: Void = world.post { [CrashWorld.score(Role.caught.game, 0, at: $0)] }
            switch point {
            case .commitUnheard:
                try await world.until("the claim is durable") {
                    try await server?.sql("SELECT count(*) FROM lanekeeper.claim WHERE device = 'd1'") == "1"
                }
            case .intentWritten:
                try await world.until("the start is decided") {
                    let isStopped = try await world.store.stopsCommit()
                    return await world.states(Self.caught) == ["starting"] && isStopped
                }
            case .committed:
                try await world.until("the claim is durable") { await world.kept(Self.caught).contains("start") }
            case .pushWritten:
                try await world.until("the push is written") {
                    let isDecided = await world.states(Self.caught) == ["starting"]
                    return isDecided && world.line.heldBytes(.toServer) > 700
                }
            case .pushArrived: try await world.until("it is there") { struck.isOpen }
            case .answered:
                try await world.until("it is there") { struck.isOpen }
                try await world.store.freeze()
                world.line.letGo(.toProgram)
                try await world.until("the verdict is taken") {
                    await world.view(Self.caught)?["ledger"]?["accepted"]?.wholeNumber == 1
                }
            case .verdictRecorded:
                try await world.until("it is there") { struck.isOpen }
                world.line.letGo(.toProgram)
                try await world.until("the verdict is durable") { await world.kept(Self.caught).contains("verdict") }
            }
            try await Self.killed(world)
            try await world.begin()
            try await posted
            if point.starts == 1 {
                try await world.until("the card is confirmed") { await world.states(Self.caught) == ["confirmed"] }
            }
            try await Self.start(.after, in: world)
            #expect(world.starts(ofPhone: 1).count == point.starts)
            let view = await world.view(Self.caught)
            #expect(view?["ledger"]?["sent"]?.wholeNumber == 1)
            if point.starts == 0 { #expect(await world.states(Self.caught) == ["believed"]) }
            try await Self.finish(world)
            #expect(world.starts(ofPhone: 1).count == point.starts)
        }
    }

    // MARK: - Ends

    enum EndPoint: String, CaseIterable, Sendable {
        case intentWritten, committed, pushWritten, pushArrived, answered, verdictRecorded
    }

    @Test(arguments: EndPoint.allCases, StoreKind.allCases)
    func `L1: an owed end whose program is killed is not forgotten`(point: EndPoint, kind: StoreKind) async throws {
        let (world, struck) = (try await Self.world(kind), Latch())
        try await world.live {
            try await Self.prepare(world)
            try await Self.start(.caught, in: world)
            switch point {
            case .intentWritten: try await world.store.freeze()
            case .committed: try await world.call("POST", "/v1/gateways/production/pause")
            case .pushWritten: world.line.hold(.toServer)
            case .pushArrived, .answered, .verdictRecorded:
                world.witness.strike(afterNext: 1, .end) {
                    world.line.hold(.toProgram)
                    struck.open()
                }
            }
            // U5: nothing qualifies any more.
            async let called: Void = Self.select([], in: world)
            if point != .intentWritten, point != .pushArrived, point != .answered { try await called }
            switch point {
            case .intentWritten, .committed:
                try await world.until("the end is owed") { await world.states(Self.caught) == ["ending"] }
            case .pushWritten:
                try await world.until("the end is written") { world.line.heldBytes(.toServer) > 300 }
            case .pushArrived: try await world.until("it is there") { struck.isOpen }
            case .answered:
                try await world.until("it is there") { struck.isOpen }
                try await world.store.freeze()
                world.line.letGo(.toProgram)
                try await world.until("the verdict is taken") { await world.states(Self.caught).isEmpty }
            case .verdictRecorded:
                try await world.until("it is there") { struck.isOpen }
                world.line.letGo(.toProgram)
                // The start's, and the end's.
                try await world.until("the verdict is durable") {
                    await world.kept(Self.caught).count { $0 == "verdict" } >= 2
                }
            }
            if [.intentWritten, .committed, .pushWritten].contains(point) {
                #expect(world.alive(onPhone: 1).count == 1)
            }
            try await Self.killed(world)
            try await world.begin()
            try await called
            if point == .committed {
                #expect(world.witness.accepted(.end) == 0, "a pause outlives the program")
                try await world.call("POST", "/v1/gateways/production/resume")
            }
            try await world.until("its card is gone") {
                let states = await world.states(Self.caught)
                return world.alive(onPhone: 1).isEmpty && states.isEmpty
            }
            if point == .verdictRecorded { #expect(world.witness.accepted(.end) == 1) }
            #expect(world.starts(ofPhone: 1).count == 1)
            try await Self.finish(world)
            #expect(world.starts(ofPhone: 1).count == 1)
        }
    }

    // MARK: - Reissues

    enum ReissuePoint: String, CaseIterable, Sendable {
        case intentWritten, pushWritten, pushArrived, answered, endOwed
    }

    @Test(arguments: ReissuePoint.allCases, StoreKind.allCases)
    func `R2, R3: a reissue whose program is killed leaves one card, and a successor is never sent twice`(
        point: ReissuePoint, kind: StoreKind
    ) async throws {
        let (world, struck) = (try await Self.world(kind), Latch())
        try await world.live {
            try await Self.prepare(world, isWarm: false)
            try await Self.start(.caught, in: world)
            let old = try #require(world.alive(onPhone: 1).first)
            switch point {
            case .intentWritten: try await world.store.freeze()
            case .pushWritten: world.line.hold(.toServer)
            case .pushArrived, .answered, .endOwed:
                world.witness.strike(afterNext: 1, .start) {
                    world.line.hold(.toProgram)
                    struck.open()
                }
            }
            try world.tune(["reissue.afterSeconds": "1"])
            try await world.reload()
            switch point {
            case .intentWritten:
                try await world.until("the reissue is decided") { await world.states(Self.caught) == ["replacing"] }
            case .pushWritten:
                try await world.until("the successor's start is written") { world.line.heldBytes(.toServer) > 700 }
            case .pushArrived: try await world.until("it is there") { struck.isOpen }
            case .answered:
                try await world.until("it is there") { struck.isOpen }
                try await world.store.freeze()
                world.line.letGo(.toProgram)
                try await world.until("the verdict is taken") {
                    await world.view(Self.caught)?["ledger"]?["accepted"]?.wholeNumber == 2
                }
            case .endOwed:
                try await world.until("it is there") { struck.isOpen }
                try await world.call("POST", "/v1/gateways/production/pause")
                world.line.letGo(.toProgram)
                try await world.until("the verdict is durable") {
                    await world.kept(Self.caught).count { $0 == "verdict" } >= 2
                }
            }
            if point != .intentWritten { try world.tune(["reissue.afterSeconds": "27900"]) }
            try await Self.killed(world)
            try await world.begin()
            if point == .intentWritten {
                try await world.until("it is done after all") { world.starts(ofPhone: 1).count >= 2 }
                try world.tune(["reissue.afterSeconds": "27900"])
                try await world.reload()
            }
            if point == .endOwed { try await world.call("POST", "/v1/gateways/production/resume") }
            try await Self.start(.after, in: world)
            try await world.until("one card stands") { world.alive(onPhone: 1).count == 1 }
            let stays = point == .pushWritten
            #expect((world.alive(onPhone: 1).first?.activity == old.activity) == stays)
            if point != .intentWritten { #expect(world.starts(ofPhone: 1).count == (stays ? 1 : 2)) }
            try await Self.finish(world, roles: [.caught, .after])
        }
    }
}
