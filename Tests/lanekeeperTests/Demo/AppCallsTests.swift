import CardRules
import Lanes
import Operations
import Simulation
import Synchronization
import TLS
import Testing
import WebServer

@testable import lanekeeper

/// How simulated apps take what a server answers, over a real socket.
@Suite struct AppCallsTests {
    /// Answers by the script, then 204; notes what it was asked.
    private final class ScriptedServer: WebHandler {
        private let script: Mutex<[WebAnswer]>
        private let seen = Mutex<[String]>([])

        init(_ script: [WebAnswer]) { self.script = Mutex(script) }

        var asked: [String] { seen.withLock { $0 } }

        func admit(_ head: WebRequestHead) -> WebAdmission { .bodyOf(maximumBytes: 65_536) }

        func take(_ request: WebRequest, _ exchange: any WebExchange) {
            seen.withLock { $0.append("\(request.head.method) \(request.head.path.joined(separator: "/"))") }
            exchange.answer(
                script.withLock { $0.isEmpty ? WebAnswer(status: 204) : $0.removeFirst() })
        }

        func refusal(status: Int, detail: String) -> WebAnswer { WebAnswer(status: status) }
    }

    private static let opened = WallTime(seconds: 1_794_699_000)

    private static func fleet(_ habit: PhoneProfile.PushToStartHabit = .prompt) -> PhoneFleet {
        var profile = PhoneProfile(
            handset: 0, bundleID: DemoWorld.bundleID, osVersion: OSVersion(major: 18, minor: 1), timeZone: "UTC",
            user: "u1", device: DeviceID(unchecked: "d1"),
            openings: [
                PhoneProfile.Opening(
                    at: opened, seconds: 60, choice: PhoneProfile.Choice(games: [GameID(unchecked: "g")]))
            ])
        profile.pushToStart = habit
        return PhoneFleet(profiles: [profile], seed: 1)
    }

    /// Lets the phone open its app against a server with that script; `body` moves the clock.
    private func run(
        _ script: [WebAnswer], _ fleet: PhoneFleet = fleet(),
        _ body: (AppCalls, DemoAPI, ManualClock, ScriptedServer) async throws -> Void
    ) async throws {
        let (clock, handler) = (ManualClock(now: Self.opened), ScriptedServer(script))
        // Connections live by real time, whatever the night's is.
        let machine = MachineClock()
        let server = try WebServer(
            on: .loopback(port: 0), handler: handler,
            clock: WebServerClock(
                nanoseconds: { machine.uptime.nanoseconds }, unixSeconds: { machine.now.unixSeconds }))
        let address = try #require(ClientAddress("http://\(server.address)"))
        let api = try DemoAPI(DemoAccess(address: address, keys: try DemoKeys()))
        let calls = AppCalls(fleet: fleet, clock: clock)
        calls.connect(to: api)
        for report in fleet.run(until: clock.now) { calls.take(report) }
        await api.settled()
        do {
            try await body(calls, api, clock, handler)
        } catch {
            await api.close()
            await server.stopped()
            throw error
        }
        await api.close()
        await server.stopped()
    }

    @Test func `an app makes its calls one after the other, in order`() async throws {
        try await run([]) { calls, _, _, server in
            #expect(server.asked == ["PUT v1/devices/d1", "PUT v1/devices/d1/selection"])
            #expect(calls.counts.answered == 2 && calls.nextRetry == nil)
        }
    }

    @Test(arguments: [503, 429])
    func `L1: what a server cannot take now goes again when it asked for it, before what came later`(status: Int)
        async throws
    {
        try await run([WebAnswer(status: status, headers: [("Retry-After", "5")])]) { calls, api, clock, server in
            #expect(server.asked == ["PUT v1/devices/d1"])
            #expect(calls.nextRetry == Self.opened.advanced(bySeconds: 5))
            clock.advance(bySeconds: 4.9)
            calls.passTime()
            await api.settled()
            #expect(server.asked.count == 1)
            clock.advance(bySeconds: 0.1)
            calls.passTime()
            await api.settled()
            #expect(server.asked == ["PUT v1/devices/d1", "PUT v1/devices/d1", "PUT v1/devices/d1/selection"])
            #expect(calls.counts.repeated == 1 && calls.nextRetry == nil)
        }
    }

    @Test func `what a server will never take is dropped, and the next call goes`() async throws {
        try await run([WebAnswer(status: 422)]) { calls, _, _, server in
            #expect(server.asked.count == 2 && calls.counts.refused == 1 && calls.counts.answered == 1)
        }
    }

    @Test func `L10: what a server that is gone never answered goes to the next one`() async throws {
        try await run([WebAnswer(status: 503)]) { calls, api, clock, server in
            calls.connect(to: api)
            await api.settled()
            #expect(server.asked.count == 3 && calls.counts.answered == 2 && calls.nextRetry == nil)
        }
    }

    @Test(arguments: [PhoneProfile.PushToStartHabit.prompt, .none])
    func `S14: asked for its token, an app reports what iOS says, once: also when that is nothing`(
        habit: PhoneProfile.PushToStartHabit
    ) async throws {
        let asking = WebAnswer(status: 204, headers: [(PushToStartReader.needsHeader, PushToStartReader.needsToken)])
        let fleet = Self.fleet(habit)
        try await run([asking, asking, asking, asking], fleet) { calls, api, clock, server in
            // The registration has just said it, the selection has not.
            let reports = fleet.run(until: clock.now)
            #expect(reports.count == 1)
            for report in reports { calls.take(report) }
            await api.settled()
            #expect(server.asked.last == "PUT v1/devices/d1" && server.asked.count == 3)
            #expect(fleet.run(until: clock.now).isEmpty)
        }
    }

    @Test(
        arguments: [
            (204, nil, 0, CallOutcome.done), (201, nil, 9, .done), (404, nil, 0, .refused(status: 404)),
            (503, "7", 0, .again(afterSeconds: 7)), (503, nil, 0, .again(afterSeconds: 1)),
            (500, nil, 3, .again(afterSeconds: 8)), (429, "soon", 40, .again(afterSeconds: 60)),
            (503, "86400", 0, .again(afterSeconds: 60)),
        ] as [(Int, String?, Int, CallOutcome)])
    func `an answer means: durable, never, or again after what was asked for or ever longer pauses`(
        status: Int, retryAfter: String?, failures: Int, outcome: CallOutcome
    ) {
        let headers = retryAfter.map { [ClientHeader("Retry-After", $0)] } ?? []
        let response = ClientResponse(status: status, headers: headers, body: [])
        #expect(CallOutcome(.success(response), failures: failures) == outcome)
    }

    @Test func `a call that broke goes again: nobody knows whether it counted`() {
        #expect(CallOutcome(.failure(.broken("")), failures: 1) == .again(afterSeconds: 2))
        #expect(CallOutcome(.failure(.unreachable("")), failures: 0) == .again(afterSeconds: 1))
        #expect(CallOutcome(.failure(.badRequest("")), failures: 0) == .refused(status: 0))
    }
}
