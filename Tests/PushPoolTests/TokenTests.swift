import CardRules
import Lanes
import PushWire
import Synchronization
import Testing

@testable import PushPool
@testable import Simulation

/// G4 on the wire: which provider token goes with which request.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TokenTests {
    private static let expired = #"{"reason":"ExpiredProviderToken"}"#
    private static let verdict = Verdict.refused(Refusal(RefusalReason("ExpiredProviderToken"), status: 403))

    @Test
    func `G4: a token refused when older than 20 min is signed anew, on a new connection, and the push goes again`()
        async throws
    {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, all in
            all.count > 1 && request.authorization == all[0].authorization
                ? [.answer(request.stream, status: 403, body: Self.expired)] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        clock.advance(bySeconds: 1200)
        rig.send(1..<6)
        await rig.sink.wait(for: 6)
        #expect(rig.sink.hasOneEach(6) && rig.sink.count(.accepted) == 6)
        let seen = rig.server.seen
        #expect(Set(seen.map(\.authorization)).count == 2)
        for request in seen {
            #expect((request.authorization == seen[0].authorization) == (request.connection == 0))
        }
        await rig.end()
    }

    @Test func `G4: a token refused before 20 min is tried once more on a new connection, and none is signed`()
        async throws
    {
        let clock = ManualClock(now: ScriptedRig.start)
        let refuses = Mutex(true)
        let rig = try ScriptedRig(clock: clock) { request, all in
            all.count > 1 && refuses.withLock { $0 }
                ? [.answer(request.stream, status: 403, body: Self.expired)] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        clock.advance(bySeconds: 1199)
        rig.send(1..<2)
        await rig.sink.wait(for: 2)
        #expect(rig.sink.verdicts == [.accepted, Self.verdict])
        #expect(rig.server.seen.map(\.connection) == [0, 0, 1])
        #expect(Set(rig.server.seen.map(\.authorization)).count == 1)
        refuses.withLock { $0 = false }
        clock.advance(bySeconds: 1)
        rig.send(2..<3)
        await rig.sink.wait(for: 3)
        #expect(rig.sink.verdicts.last == .accepted)
        let tokens = rig.server.seen.map(\.authorization)
        #expect(tokens.last != tokens.first, "the refused token is now 20 min old")
        await rig.end()
    }

    @Test func `G4: one token serves 50 min, then the next is signed`() async throws {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in [.answer(request.stream)] }
        for (number, seconds) in [0, 1500.0, 1499, 1, 1200].enumerated() {
            clock.advance(bySeconds: seconds)
            rig.send(number..<number + 1)
            await rig.sink.wait(for: number + 1)
        }
        let tokens = rig.server.seen.map(\.authorization)
        #expect(tokens.count == 5 && rig.server.connections == 1)
        #expect(tokens[0] == tokens[1] && tokens[1] == tokens[2])
        #expect(tokens[3] != tokens[0] && tokens[4] == tokens[3])
        await rig.end()
    }
}
