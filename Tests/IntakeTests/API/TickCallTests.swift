import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct TickCallTests {
    private static let game =
        #"{"t":1768075200,"type":"game","game":"g1","sport":"hockey","home":"H","away":"A","startsAt":1768075200}"#

    private func post(_ text: String, on rig: APIRig) async -> Answered {
        await rig.call("POST", "/v1/ticks", text, type: "application/x-ndjson")
    }

    private func rejected(_ answer: Answered) -> [Int] {
        guard case .array(let rows) = answer.json?["rejected"] else { return [] }
        return rows.compactMap { $0["line"]?.wholeNumber }
    }

    @Test func `ticks: usable lines count, others are told with their number; blank ones are skipped`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let answer = await post(
                Self.game + "\n\n{\"t\":\n" + #"{"t":1768075201,"type":"score","game":"g1","home":1,"away":0}"# + "\r\n"
                    + #"{"t":1768075202,"type":"score","game":"g1","home":"one"}"#, on: rig)
            #expect(answer.status == 200 && answer.json?["accepted"]?.wholeNumber == 2)
            #expect(rejected(answer) == [3, 5])
            #expect(answer.text.contains("home: must be a whole number"))
            #expect(await rig.supervisor.snapshot.game("g1")?.homeScore == 1)
        }
    }

    @Test func `ticks: a line that the slate cannot use is rejected with its number too`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let nameless = #"{"t":1768075200,"type":"game","game":"g2","sport":"hockey","home":"H"}"#
            let answer = await post(Self.game + "\n" + nameless, on: rig)
            #expect(answer.status == 200 && answer.json?["accepted"]?.wholeNumber == 1 && rejected(answer) == [2])
            let alone = await post(nameless, on: rig)
            #expect(alone.status == 400 && rejected(alone) == [1])
        }
    }

    @Test(arguments: ["", "\n\n", "{}", "[1]", "no json\n{\"type\":\"game\"}"])
    func `ticks: 400 when no line was usable`(text: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            let answer = await post(text, on: rig)
            #expect(answer.status == 400 && answer.isProblem)
        }
    }

    @Test func `ticks: fractions in t, escaped keys, and numbers to the edge of their range`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let answer = await post(
                Self.game + "\n" + #"{"t":1768075201.75,"type":"score","ga\u006de":"g1","home":2,"away":1}"# + "\n"
                    + #"{"t":1768075202,"type":"score","game":"g1","home":9223372036854775808}"# + "\n"
                    + #"{"t":1768075202,"type":"score","game":"g1","away":1e999}"# + "\n"
                    + #"{"t":1768075200123,"type":"score","game":"g1","away":7}"#, on: rig)
            #expect(answer.json?["accepted"]?.wholeNumber == 2 && rejected(answer) == [3, 4, 5])
            let game = await rig.supervisor.snapshot.game("g1")
            #expect(game?.homeScore == 2 && game?.awayScore == 1)
        }
    }

    @Test func `ticks: unknown keys are kept and passed on`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let line = #"{"t":1768075201,"type":"score","game":"g1","home":0,"away":0,"venue":{"é\n\"":[1.5,null]}}"#
            #expect(await post(Self.game + "\n" + line, on: rig).status == 200)
            let slate = await rig.call("GET", "/v1/slate")
            #expect(slate.json?["games"]?[0]?["others"]?["venue"]?["é\n\""]?[0] == .number(1.5))
        }
    }

    @Test func `ticks: the same batch again is harmless`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let text = Self.game + "\n" + #"{"t":1768075201,"type":"score","game":"g1","home":1,"away":0}"#
            let first = await post(text, on: rig)
            let before = await rig.supervisor.snapshot.game("g1")
            let again = await post(text, on: rig)
            #expect(first.json == again.json)
            #expect(await rig.supervisor.snapshot.game("g1") == before)
        }
    }

    @Test func `ticks: many bad lines are told up to a bound, and the last says how many are not`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let bad = Array(repeating: "x", count: SlateText.maximumRejected + 23).joined(separator: "\n")
            let answer = await post(bad + "\n" + Self.game, on: rig)
            #expect(answer.status == 200 && rejected(answer).count == SlateText.maximumRejected)
            #expect(answer.text.contains("23 more lines"))
        }
    }

    @Test func `ticks: batches are applied in the order of their arrival`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await post(Self.game, on: rig).status == 200)
            rig.store.hold()
            let waiters = (1...40).map { number in
                rig.begin(
                    "POST", "/v1/ticks",
                    #"{"t":1768075300,"type":"score","game":"g1","phase":"live","clock":"\#(number)"}"#,
                    type: "application/x-ndjson")
            }
            await until("the first is with the store") { rig.store.heldCommits == 1 }
            rig.store.release()
            for waiter in waiters { #expect(await waiter.answer.status == 200) }
            #expect(await rig.supervisor.snapshot.game("g1")?.clock == "40")
        }
    }

    @Test func `429: more batches than may wait, with Retry-After; those that wait are answered`() async throws {
        let rig = try await APIRig { $0.tickBatchesWaiting = 3 }
        try await rig.running {
            rig.store.hold()
            let waiting = (1...3).map { _ in rig.begin("POST", "/v1/ticks", Self.game, type: "application/x-ndjson") }
            let refused = await post(Self.game, on: rig)
            #expect(refused.status == 429 && refused.isProblem && refused[header: "Retry-After"] == "1")
            await until("the first is with the store") { rig.store.heldCommits == 1 }
            rig.store.release()
            for waiter in waiting { #expect(await waiter.answer.status == 200) }
            await until("there is room again") { await post(Self.game, on: rig).status == 200 }
        }
    }

    @Test func `slate: best first, equal ones by id, with what each is made of`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let lines = ["b", "a", "c"].map {
                #"{"t":1768075200,"type":"game","game":"\#($0)","sport":"hockey","home":"H","away":"A","startsAt":1768075200}"#
            }
            let live =
                #"{"t":1768075201,"type":"score","game":"c","home":1,"away":1,"period":3,"clock":"02:00","phase":"live"}"#
            #expect(await post((lines + [live]).joined(separator: "\n"), on: rig).status == 200)
            let slate = await rig.call("GET", "/v1/slate")
            guard case .array(let games) = slate.json?["games"] else {
                Issue.record("no games: \(slate.text)")
                return
            }
            #expect(games.map { $0["id"]?.text } == ["c", "a", "b"])
            let worth = games[0]["worth"]?.double ?? 0
            let parts = ["phase", "tension", "leadChanges", "stakes"].compactMap { games[0]["worthOf"]?[$0]?.double }
            #expect(parts.count == 4 && abs(parts.reduce(0, +) - worth) < 0.001 && worth >= 80)
            #expect(games[0]["moments"]?[0]?.text == "closeFinish" && games[0]["lift"]?.double == 20)
        }
    }

    @Test func `slate: whoever reads it when a game enters the window does not keep that from the lanes`() async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let later =
                #"{"t":1768075200,"type":"game","game":"g1","sport":"hockey","home":"H","away":"A","startsAt":1768076200}"#
            #expect(await post(later, on: rig).status == 200)
            rig.clock.advance(bySeconds: 700.5)  // five minutes before its start are over
            let slate = await rig.call("GET", "/v1/slate")
            #expect(slate.json?["games"]?[0]?["inWindow"] == .bool(true))
            await rig.supervisor.settle()
            #expect(await rig.supervisor.state(of: "d1")?.card(.slate) != nil)
        }
    }
}
