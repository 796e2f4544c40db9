import CardRules
import Foundation
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

/// What went wrong for others, brought about by calls of the API, on a clock that only the test moves.
@Suite struct KnownFaultTests {
    /// 80 times two hex digits.
    private static func token(_ pair: String) -> String { String(repeating: pair, count: 80) }

    /// What is in a content state, decoded as a phone does without being told how.
    private func shown<Value: Decodable>(_ type: Value.Type, in push: OutgoingPush?) throws -> Value {
        let payload = try JSONSerialization.jsonObject(with: Data(try #require(push).request.payload))
        let aps = try #require((payload as? [String: Any])?["aps"] as? [String: Any])
        let content = try JSONSerialization.data(withJSONObject: try #require(aps["content-state"]))
        return try JSONDecoder().decode(type, from: content)
    }

    // MARK: - 1

    @Test func `known fault 1: times are whole Unix seconds in a start and in an update, as the caller wrote them`()
        async throws
    {
        struct Nap: Decodable { let startedAt: Int }
        let began: Int64 = 1_760_132_400  // 2025-10-10T21:40:00Z
        let rig = try await APIRig(at: ManualClock(now: WallTime(seconds: began + 5)))
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let body =
                #"{"devices":["d1"],"attributesType":"Nap","attributes":{"session":"nap"},"title":"Sleep","#
                + #""startedAt":1760132400,"content":{"startedAt":1760132400"#
            #expect(await rig.call("PUT", "/v1/sessions/nap", body + "}}").status == 201)
            await rig.supervisor.settle()
            await rig.confirm("d1", key: "nap")
            #expect(await rig.call("PUT", "/v1/sessions/nap", body + #","count":1},"urgent":true}"#).status == 200)
            await rig.pass(seconds: 15)
            let start = rig.pusher.sent(.start).last
            let update = rig.pusher.sent(.update).last
            for (push, at) in [start, update].compactMap({ $0 }) {
                #expect(try shown(Nap.self, in: push).startedAt == 1_760_132_400)
                let stamp = try Int64(#require(push.aps?["timestamp"]?.wholeNumber))
                #expect(abs(stamp - at.unixSeconds) < 60, "Unix seconds")
            }
            #expect(start != nil && update?.push.text.contains(#""count":1"#) == true)

            // The slate's own content state, with the type that an app shares.
            await rig.playNow("g1")
            await rig.confirm("d1")
            #expect(await rig.score("g1", Lead(home: 4)).status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 15)
            let slates = rig.pusher.sent.filter { $0.text.contains("asOf") }
            #expect(Set(slates.map(\.request.event)) == [.start, .update])
            for push in slates {
                #expect(try abs(shown(SlateContent.self, in: push).asOf - rig.clock.now.unixSeconds) < 60)
                guard push.request.event == .update else { continue }
                let stale = try Int64(#require(push.aps?["stale-date"]?.wholeNumber))
                #expect((0..<3600).contains(stale - rig.clock.now.unixSeconds), "Unix seconds")
            }
            // An end too: its dismissal is a time.
            #expect(await rig.call("DELETE", "/v1/sessions/nap").status == 204)
            await rig.pass(seconds: 5)
            let dismissal = rig.pusher.sent(.end).last?.push.aps?["dismissal-date"]?.wholeNumber
            #expect(try abs(Int64(#require(dismissal)) - rig.clock.now.unixSeconds) < 3600)
        }
    }

    // MARK: - 2

    @Test func `known fault 2: of a busy night 4,096 bytes leave, whole games from the top, the front among them`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            await rig.busyNight()
            let start = try #require(rig.pusher.sent(.start).last?.push)
            #expect(start.request.payload.count <= 4096)
            #expect(start.request.payload.count > 4096 - 300, "another game would not have fitted")
            let content = try shown(SlateContent.self, in: start)
            let ids = content.games.map(\.id.text)
            #expect(ids.first == content.front.text)
            let others = ids.dropFirst()
            let order = (0..<40).map { "g\($0)" }.filter { $0 != ids.first }
            #expect(Array(others) == Array(order.prefix(others.count)) && ids.count < 20)
            #expect(content.games.count { $0.home.hasPrefix("Associação Atlética São Paulo 🏀") } == 12)
            #expect(start.text.count < start.request.payload.count, "characters are no bytes")
        }
    }

    @Test func `known fault 2: a 413 is not repeated unchanged, clears no token and charges no start`() async throws {
        let rig = try await APIRig()
        rig.pusher.script(.refused(Refusal(.known(.payloadTooLarge), status: 413)))
        try await rig.running {
            await rig.busyNight()
            await rig.pass(seconds: 1800)
            let starts = rig.pusher.sent(.start)
            #expect(!starts.isEmpty)
            #expect(Set(starts.map { $0.push.request.payload }).count == starts.count, "none a second time")
            let device = await rig.call("GET", "/v1/devices/d1")
            #expect(device.json?["pushToStart"]?["token"] != .null && device.json?["needsToken"] == .bool(false))
            #expect(device.json?["ledger"]?["accepted"]?.wholeNumber == 0)
            #expect(device.json?["ledger"]?["sent"]?.wholeNumber == 0, "\(device.text)")
        }
    }

    // MARK: - 3

    @Test func `known fault 3: a token that changed in silence costs two nights, and the new one starts the next game`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.tell("d1", token: Self.token("a1")).status == 204)
            for night in 0..<3 {
                await rig.announce("n\(night)")
                for _ in 0..<24 {
                    await rig.pass(seconds: 3600)
                    let device = await rig.call("GET", "/v1/devices/d1")
                    guard case .array(let cards) = device.json?["cards"] else { continue }
                    #expect(!cards.contains { $0["state"] == .string("confirmed") }, "nobody has seen one")
                }
                #expect(rig.pusher.sent(.start).count == min(night + 1, 2))
            }
            #expect(await rig.call("GET", "/v1/devices/d1").json?["needsToken"] == .bool(true))
            let asked = await rig.call("PUT", "/v1/devices/d1", #"{"appVersion":"2"}"#)
            #expect(asked[header: "Lanekeeper-Needs"] == "push-to-start-token")
            let told = await rig.tell("d1", token: Self.token("a9"))
            #expect(told.status == 204 && told[header: "Lanekeeper-Needs"] == nil)
            await rig.pass(seconds: 3600)
            await rig.announce("next")
            let starts = rig.pusher.sent(.start)
            #expect(starts.count == 3)
            #expect(starts.last?.push.request.address == PushAddress(hex: Self.token("a9"), gateway: .production))
        }
    }

    // MARK: - 4

    enum Arrival: CaseIterable { case before200, between200AndStore, after }

    @Test(arguments: Arrival.allCases)
    func `known fault 4: an update token stays, whenever it comes, and the next tick goes to it`(arrival: Arrival)
        async throws
    {
        let rig = try await APIRig()
        rig.pusher.script(nil)
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            #expect(await rig.score("g1", announcing: true).status == 200)
            await until("the start is on its way") { rig.pusher.sent(.start).count == 1 }
            let token = #"{"activity":"a1","updateToken":"aabb02","gateway":"production","startedBy":"push"}"#
            func report() async -> Int { await rig.call("PUT", "/v1/devices/d1/cards/slate", token).status }
            rig.clock.advance(bySeconds: 1)
            if arrival == .before200 { #expect(await report() == 204) }
            rig.clock.advance(bySeconds: 2)
            switch arrival {
            case .between200AndStore:
                rig.store.hold()
                rig.pusher.answer(.accepted)
                await until("the 200 is with the store") { rig.store.heldCommits > 0 }
                let waiter = rig.begin("PUT", "/v1/devices/d1/cards/slate", token)
                rig.store.release()
                #expect(await waiter.answer.status == 204)
            case .before200, .after:
                rig.pusher.answer(.accepted)
            }
            rig.pusher.script(.accepted)
            await rig.supervisor.settle()
            rig.clock.advance(bySeconds: 1)
            if arrival == .after { #expect(await report() == 204) }
            rig.clock.advance(bySeconds: 1)
            #expect(await rig.score("g1", Lead(home: 4)).status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 20)
            let last = try #require(rig.pusher.sent(.update).last?.push)
            #expect(last.request.address == PushAddress(hex: "aabb02", gateway: .production))
            #expect(last.text.contains(#""homeScore":4"#))
            #expect(rig.pusher.sent(.start).count == 1)
            let kept = rig.store.lane("d1")?.record.cards.map { $0.updateAddress?.token }
            #expect(kept == [[0xaa, 0xbb, 0x02]])
        }
    }

    // MARK: - 8

    @Test
    func `known fault 8: of 90 minutes of ticks only the moments go at priority 10, at once, and the last state comes`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            await rig.cardStands("d1", game: "g1")
            var lead = Lead()
            for step in 0..<270 {  // of 20 s
                if step % 40 == 20, step > 20 { lead.home += 2 }
                guard step % 40 == 39 else {
                    #expect(await rig.score("g1", lead, clock: "01:\(10 + step % 50)").status == 200)
                    await rig.supervisor.settle()
                    await rig.pass(seconds: 20)
                    continue
                }
                // A close finish.
                lead.away += 2
                await rig.pass(seconds: 3)
                let before = rig.pusher.sent(.update).count
                #expect(await rig.score("g1", lead, clock: "01:00").status == 200)
                await rig.supervisor.settle()
                await rig.pass(seconds: 5)
                let news = rig.pusher.sent(.update).dropFirst(before)
                #expect(
                    news.contains {
                        $0.push.request.priority == .immediate && $0.push.text.contains("closeFinish")
                    })
                await rig.pass(seconds: 12)
            }
            await rig.pass(seconds: 60)
            let updates = rig.pusher.sent(.update)
            let urgent = updates.filter { $0.push.request.priority == .immediate }
            #expect((6...12).contains(urgent.count), "\(urgent.count)")
            #expect(updates.count > 200 && updates.count <= 90 * 4 + 12, "routine ones are spaced")
            #expect(updates.last?.push.text.contains(#""clock":"01:29""#) == true)
        }
    }

    @Test func `known fault 8: with the allowance gone a moment goes at 5, is not dropped, and that can be seen`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            await rig.cardStands("d1", game: "g1")
            var lead = Lead()
            for number in 1...16 {
                if number > 1 { lead.home += 2 }
                #expect(await rig.score("g1", lead).status == 200)
                await rig.supervisor.settle()
                await rig.pass(seconds: 100)
                lead.away += 2
                let before = rig.pusher.sent(.update).count
                #expect(await rig.score("g1", lead).status == 200)
                await rig.supervisor.settle()
                await rig.pass(seconds: 20)
                let news = rig.pusher.sent(.update).dropFirst(before).filter { $0.push.text.contains("closeFinish") }
                #expect(!news.isEmpty, "moment \(number) is not dropped")
                if number > 12 { #expect(news.allSatisfy { $0.push.request.priority == .conserving }) }
            }
            let urgent = rig.pusher.sent(.update).count { $0.push.request.priority == .immediate }
            #expect(urgent == 12)
            let card = await rig.call("GET", "/v1/devices/d1").json?["cards"]?[0]
            #expect(card?["urgentLeft"]?.wholeNumber == 0)
        }
    }

    // MARK: - 14

    @Test(arguments: [[0, 3], [0, 3, 6, 9]])
    func `known fault 14: after quick changes the card shows the last of them, 15 s after the first`(ticks: [Int])
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            await rig.cardStands("d1", game: "g1")
            await rig.pass(seconds: 120)
            let began = rig.clock.now
            let before = rig.pusher.sent(.update).count
            for (number, tick) in ticks.enumerated() {
                await rig.pass(seconds: Double(tick) - rig.clock.now.seconds(since: began))
                #expect(await rig.score("g1", clock: "tick \(number)").status == 200)
                await rig.supervisor.settle()
            }
            await rig.pass(seconds: 580)
            let updates = rig.pusher.sent(.update).dropFirst(before)
            #expect(updates.map { Int($0.at.seconds(since: began)) } == [0, 15])
            #expect(updates.first?.push.text.contains("tick 0") == true)
            #expect(updates.last?.push.text.contains("tick \(ticks.count - 1)") == true)
        }
    }

    @Test func `known fault 14: a moment goes at once, takes what waited with it, and nothing is left to send`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            await rig.cardStands("d1", game: "g1")
            await rig.pass(seconds: 120)
            let began = rig.clock.now
            let before = rig.pusher.sent(.update).count
            #expect(await rig.score("g1", clock: "first").status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 3)
            #expect(await rig.score("g1", clock: "second").status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 2)
            #expect(await rig.score("g1", Lead(home: 3, away: 2), clock: "00:50").status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 120)
            let updates = rig.pusher.sent(.update).dropFirst(before)
            #expect(updates.map { Int($0.at.seconds(since: began)) } == [0, 5])
            #expect(updates.last?.push.text.contains("00:50") == true)
            #expect(updates.last?.push.text.contains("closeFinish") == true)
        }
    }

    @Test func `known fault 14: what waited for its turn is sent after a restart`() async throws {
        let first = try await APIRig()
        try await first.running {
            await first.cardStands("d1", game: "g1")
            await first.pass(seconds: 120)
            #expect(await first.score("g1", clock: "first").status == 200)
            await first.pass(seconds: 3)
            #expect(await first.score("g1", clock: "second").status == 200)
        }
        first.clock.advance(bySeconds: 2)
        let second = try await APIRig(over: first.store, at: first.clock)
        try await second.running {
            await second.supervisor.passTime()
            await second.supervisor.settle()
            await second.pass(seconds: 120)
            #expect(second.pusher.sent(.update).last?.push.text.contains("second") == true)
            #expect(second.pusher.sent(.start).isEmpty)
        }
    }
}

/// A score of two teams; three goals apart there is no moment, one or none is a close finish (T9).
struct Lead {
    var home = 3
    var away = 0
}

extension APIRig {
    /// A phone with a push-to-start token in hex, that follows whatever is played.
    func tell(_ device: String, token: String, maxGames: Int = 4) async -> Answered {
        await call(
            "PUT", "/v1/devices/\(device)",
            #"{"user":"u","gateway":"production","pushToStartToken":"\#(token)","osVersion":"18.0","#
                + #""personalisation":{"version":1,"teams":{},"leagues":{},"minimumWorth":0,"maxGames":\#(maxGames)}}"#)
    }

    /// The app reports the update token of a card.
    func confirm(_ device: String, key: String = "slate") async {
        let body = #"{"activity":"on-\#(key)","updateToken":"aabb","gateway":"production","startedBy":"push"}"#
        #expect(await call("PUT", "/v1/devices/\(device)/cards/\(key)", body).status == 204)
        await supervisor.settle()
    }

    /// A game that begins now.
    func announce(_ game: String) async {
        let at = clock.now.unixSeconds
        let line =
            #"{"t":\#(at),"type":"game","game":"\#(game)","sport":"hockey","home":"H","away":"A","startsAt":\#(at)}"#
        #expect(await call("POST", "/v1/ticks", line, type: "application/x-ndjson").status == 200)
        await supervisor.settle()
    }

    func playNow(_ game: String) async {
        #expect(await score(game, announcing: true).status == 200)
        await supervisor.settle()
    }

    /// A tick of a game in its last minutes.
    func score(
        _ game: String, _ lead: Lead = Lead(), clock text: String = "01:00", announcing: Bool = false
    ) async -> Answered {
        let at = clock.now.unixSeconds
        let first =
            announcing
            ? #"{"t":\#(at),"type":"game","game":"\#(game)","sport":"hockey","home":"H","away":"A","startsAt":\#(at)}"#
                + "\n" : ""
        let line =
            #"{"t":\#(at),"type":"score","game":"\#(game)","home":\#(lead.home),"away":\#(lead.away),"period":3,"#
            + #""clock":"\#(text)","phase":"live"}"#
        return await call("POST", "/v1/ticks", first + line, type: "application/x-ndjson")
    }

    /// A card stands on the phone, and its token is known.
    func cardStands(_ device: String, game: String) async {
        #expect(await register(device).status == 204)
        await playNow(game)
        await confirm(device)
        await pass(seconds: 30)
    }

    /// 40 games in one slate, 12 of them with names of more bytes than characters.
    func busyNight() async {
        #expect(await tell("d1", token: "b2b2", maxGames: 20).status == 204)
        let at = clock.now.unixSeconds
        let games = (0..<40).map { number in
            let home = number < 12 ? "Associação Atlética São Paulo 🏀🏀🏀🏀🏀🏀🏀🏀🏀🏀" : "Home \(number)"
            return
                #"{"t":\#(at),"type":"game","game":"g\#(number)","sport":"hockey","league":"NHL","home":"\#(home)","#
                + #""away":"Away \#(number), the guests from the North-Western Hockey Conference, founded in 1924","startsAt":\#(at)}"#
        }
        let selection = (0..<40).map { #""g\#($0)""# }.joined(separator: ",")
        #expect(
            await call("PUT", "/v1/devices/d1/selection", #"{"games":[\#(selection)],"syncedAt":\#(at - 60)}"#).status
                == 204)
        #expect(
            await call("POST", "/v1/ticks", games.joined(separator: "\n"), type: "application/x-ndjson").status == 200)
        await supervisor.settle()
        await pass(seconds: 60)
    }
}
