import CardRules
import Lanes
import PushWire
import Synchronization
import TLS
import Testing

@testable import PushPool
@testable import Simulation

/// Whatever the gateway does with connections, streams and answers, each push ends in one verdict, the verdict says what the
/// gateway did, and no push is processed twice (L2, known faults 12 and 13).
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChaosTests {
    /// Counts what reached a phone, by `apns-id`.
    private final class CountingBackend: GatewayBackend {
        private let inner = AnyTokenBackend()
        private let processed = Mutex<[String: Int]>([:])

        var counts: [String: Int] { processed.withLock { $0 } }

        func serve(
            _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
            at now: WallTime
        ) -> GatewayAnswer {
            let answer = inner.serve(request, by: &model, on: &connection, at: now)
            if let delivery = answer.delivery { processed.withLock { $0[delivery.push.apnsID, default: 0] += 1 } }
            return answer
        }
    }

    private static func faults(_ random: inout SeededGenerator) -> [GatewayFault] {
        let kinds: [GatewayFault.Kind] = [
            .serverError, .unavailable, .shutdown, .reset(code: 7), .reset(code: 2), .resetAfter(code: 2),
            .resetAfter(code: 8), .hangUp(withReset: true), .hangUp(withReset: false), .silence, .delay(seconds: 3),
            .delay(seconds: 90),
        ]
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in
            GatewayFault(
                kinds[Int.random(in: kinds.indices, using: &random)], times: Int.random(in: 1...20, using: &random),
                share: Double.random(in: 0.02...0.5, using: &random))
        }
    }

    private static func order(_ random: inout SeededGenerator) -> ConnectionOrder {
        switch Int.random(in: 0...5, using: &random) {
        case 0: .close
        case 1: .reset
        case 2: .announce(streams: Int.random(in: 1...20, using: &random))
        case 3: .goAwayText("Maximum active streams violated for this endpoint.")
        default: .goAway(reason: "Shutdown", unprocessed: 0)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `L2: a storm of faults: one verdict a push, true to what the gateway did, and no push id processed twice`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let backend = CountingBackend()
        let rig = try PushPoolTests.Rig(
            backend, speed: 25,
            options: {
                $0.streamsAfter = 40
                $0.throttlesOnErrors = true
                $0.errorsUntilGoAway = 20
            }, configuration: { $0.timeoutSeconds = 60 })
        var pushes: [OutgoingPush] = []
        for round in 0..<6 {
            let faults = Self.faults(&random)
            _ = rig.server.withModel(of: .production) { $0.options.faults = faults }
            let batch = (round * 60..<round * 60 + 60).map {
                ScriptedRig.push(
                    $0, event: $0 % 7 == 0 ? .end : .start, isConfirmed: $0 % 5 != 0, sink: rig.sink)
            }
            pushes += batch
            #expect(rig.pool.send(batch).isEmpty)
            await rig.sink.wait(for: round * 60 + Int.random(in: 1...60, using: &random))
            rig.server.order(Self.order(&random), of: .production)
        }
        _ = rig.server.withModel(of: .production) { $0.options.faults = [] }
        await rig.sink.wait(for: pushes.count)
        // The pool heals: what the storm has left, held scopes and backoff, goes by, and then all are accepted.
        var accepted = 0
        while accepted < 20, !Task.isCancelled {
            let batch = (pushes.count..<pushes.count + 20).map { ScriptedRig.push($0, sink: rig.sink) }
            let before = rig.sink.count(.accepted)
            pushes += batch
            #expect(rig.pool.send(batch).isEmpty)
            await rig.sink.wait(for: pushes.count)
            accepted = rig.sink.count(.accepted) - before
        }
        #expect(accepted == 20, "seed \(seed): it does not heal")
        await rig.end()
        #expect(rig.sink.hasOneEach(pushes.count), "seed \(seed)")
        let counts = backend.counts
        for answer in rig.sink.answers {
            let id = pushes[Int(answer.ticket.number.value)].request.id.description
            let times = counts[id] ?? 0
            let isTrue =
                switch answer.verdict {
                case .accepted: times == 1
                case .refused, .notSent: times == 0
                case .unknown: times <= 1
                }
            #expect(isTrue, "seed \(seed): \(answer.verdict), and processed \(times) times")
        }
    }
}
