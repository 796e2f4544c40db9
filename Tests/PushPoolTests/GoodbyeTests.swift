import CardRules
import Lanes
import PushWire
import Testing

@testable import PushPool
@testable import Simulation

/// GOAWAY with a last stream, row by row, over TLS (ref T17, L2).
@Suite(.serialized, .timeLimit(.minutes(1))) struct GoodbyeTests {
    /// Slow enough that no deadline passes on a machine with much else to do.
    private static let clock = ScaledClock(start: ScriptedRig.start, speed: 4)

    @Test(arguments: [PushEvent.start, .update])
    func `L2: what a GOAWAY covers and is answered afterwards is accepted, and what comes next goes elsewhere`(
        event: PushEvent
    ) async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            guard request.stream == 11 else { return [] }
            return [.goAway(last: 11)] + [3, 5, 7, 9, 11].map { .answer($0) }
        }
        rig.send(0..<1, event: event)
        await rig.sink.wait(for: 1)
        rig.send(1..<6, event: event)
        await rig.sink.wait(for: 6)
        rig.send(6..<10, event: event)
        await rig.sink.wait(for: 10)
        #expect(rig.sink.hasOneEach(10) && rig.sink.count(.accepted) == 10)
        #expect(rig.readings.values.allSatisfy { $0 == 1 })
        #expect(rig.server.seen.suffix(4).allSatisfy { $0.connection == 1 })
        await rig.end()
    }

    @Test(arguments: [PushEvent.start, .update])
    func `L2: a GOAWAY in two steps: nothing new after the first, and the second says which of the rest did not count`(
        event: PushEvent
    ) async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            return request.stream == 11 ? [.goAway(last: .max)] : []
        }
        rig.send(0..<1, event: event)
        await rig.sink.wait(for: 1)
        rig.send(1..<6, event: event)
        await rig.server.waitForRequests(6)
        // The first step is on its way; whatever still goes to the old connection crossed it.
        rig.send(6..<10, event: event)
        await rig.server.waitForRequests(10)
        let crossed = rig.server.seen.filter { $0.connection == 0 && $0.stream > 11 }.map(\.number)
        #expect(crossed.allSatisfy { $0 >= 6 })
        rig.server.tell(0, [.answer(3), .answer(5), .answer(7), .goAway(last: 7), .close])
        await rig.sink.wait(for: 10)
        #expect(rig.sink.hasOneEach(10) && rig.sink.count(.accepted) == 10)
        // Acted on: streams up to 7 of the old connection, and all of the new one.
        let actedOn = rig.server.seen.filter { $0.connection > 0 || $0.stream <= 7 }.map(\.number).sorted()
        #expect(actedOn == Array(0..<10))
        await rig.end()
    }

    @Test func `L2: a GOAWAY before anything was taken up moves all, the first request too`() async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            request.connection == 0 ? [.goAway(last: 0), .close] : [.answer(request.stream)]
        }
        rig.send(0..<5)
        await rig.sink.wait(for: 5)
        #expect(rig.sink.hasOneEach(5) && rig.sink.count(.accepted) == 5)
        #expect(rig.server.seen.filter { $0.connection == 0 }.count == 1)
        #expect(Set(rig.server.seen.filter { $0.connection > 0 }.map(\.number)) == Set(0..<5))
        await rig.end()
    }
}
