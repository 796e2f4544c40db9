import CardRules
import Lanes
import PushWire
import Testing

@testable import PushPool
@testable import Simulation

/// What becomes of requests whose connection ends before their answers: the difference that L2 rests on.
@Suite(.serialized, .timeLimit(.minutes(1))) struct LostAnswerTests {
    enum Goodbye: CaseIterable { case oneStep, twoSteps }
    enum Death: CaseIterable { case reset, close, goAwayThatCovers }

    /// Slow enough that no deadline passes on a machine with much else to do.
    private static let clock = ScaledClock(start: ScriptedRig.start, speed: 4)

    @Test(arguments: Goodbye.allCases, [PushEvent.start, .update])
    func
        `known fault 12: of ten pushes those up to the GOAWAY's last stream are unknown, those above go once more elsewhere`(
            goodbye: Goodbye, event: PushEvent
        ) async throws
    {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            guard request.stream == 21 else { return [] }
            return (goodbye == .twoSteps ? [.goAway(last: .max)] : []) + [.goAway(last: 11), .close]
        }
        rig.send(0..<1, event: event)
        await rig.sink.wait(for: 1)
        rig.send(1..<11, event: event)
        await rig.sink.wait(for: 11)
        #expect(rig.sink.hasOneEach(11))
        #expect(rig.numbers(.unknown) == Array(1...5))
        #expect(rig.numbers(.accepted) == [0] + Array(6...10))
        // The server has acted on those up to stream 11 of the first connection, and on all of the second.
        let actedOn = rig.server.seen.filter { $0.connection > 0 || $0.stream <= 11 }.map(\.id)
        #expect(actedOn.count == 11 && Set(actedOn).count == 11)
        #expect(!rig.server.seen.contains { $0.connection == 0 && $0.stream > 21 })
        await rig.end()
    }

    @Test(arguments: Death.allCases, [1, 5])
    func `known fault 13: a start that was read before its connection died is unknown, and the server sees it once`(
        death: Death, inFlight: Int
    ) async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, all in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            guard all.count == 1 + inFlight else { return [] }
            switch death {
            case .reset: return [.reset]
            case .close: return [.close]
            case .goAwayThatCovers: return [.goAway(last: request.stream), .close]
            }
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<1 + inFlight)
        await rig.sink.wait(for: 1 + inFlight)
        #expect(rig.numbers(.unknown) == Array(1...inFlight))
        // One more, so that whatever was to be repeated would have come before it.
        rig.send(1 + inFlight..<2 + inFlight)
        await rig.sink.wait(for: 2 + inFlight)
        #expect(rig.numbers(.accepted) == [0, 1 + inFlight])
        #expect(rig.server.seen.count == 2 + inFlight && rig.readings.values.allSatisfy { $0 == 1 })
        #expect(rig.pool.snapshot.sent == 2 + inFlight)
        await rig.end()
    }

    @Test(arguments: [1, 5])
    func `G6: a refused stream goes again and is accepted, also when it is refused several times`(times: Int)
        async throws
    {
        let rig = try ScriptedRig(clock: Self.clock) { request, all in
            let count = all.count { $0.id == request.id }
            return [request.stream > 1 && count <= times ? .refuse(request.stream) : .answer(request.stream)]
        }
        rig.send(0..<21)
        await rig.sink.wait(for: 21)
        #expect(rig.sink.hasOneEach(21) && rig.sink.count(.accepted) == 21)
        #expect(rig.server.seen.count == 1 + 20 * (1 + times))
        await rig.end()
    }

    @Test func `G7: what comes back from a connection keeps its order, ends first`() async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, all in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            return request.stream == 19 ? [.goAway(last: 1), .close] : []
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        _ = rig.pool.send((1..<10).map { ScriptedRig.push($0, event: $0 == 7 ? .end : .update, sink: rig.sink) })
        await rig.sink.wait(for: 10)
        #expect(rig.sink.count(.accepted) == 10)
        let again = rig.server.seen.filter { $0.connection > 0 }
        let wanted = [7, 1, 2, 3, 4, 5, 6, 8, 9].map { ScriptedRig.push($0, sink: rig.sink).request.id.description }
        #expect(again.map { $0.id.lowercased() } == wanted.map { $0.lowercased() })
        await rig.end()
    }

    @Test func `G6: an answer that never comes is unknown at the deadline, and the connection is replaced`()
        async throws
    {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in
            request.connection == 0 && request.stream > 1 ? [] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<4)
        await rig.server.waitForRequests(4)
        clock.advance(bySeconds: 29.9)
        #expect(rig.sink.answers.count == 1)
        clock.advance(bySeconds: 0.2)
        await rig.sink.wait(for: 4)
        #expect(rig.numbers(.unknown) == [1, 2, 3])
        rig.send(4..<5)
        await rig.sink.wait(for: 5)
        #expect(rig.numbers(.accepted) == [0, 4])
        #expect(rig.server.seen.map(\.connection) == [0, 0, 0, 0, 1])
        await rig.end()
    }
}
