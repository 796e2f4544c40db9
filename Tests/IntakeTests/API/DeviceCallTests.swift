import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct DeviceCallTests {
    private static let selection = #"{"games":["g1"],"pinned":null,"muted":[],"syncedAt":1768075200}"#
    private static let card =
        #"{"activity":"a1","updateToken":"C0FFEE","gateway":"production","startedBy":"app","began":1768075190.5}"#

    @Test func `a device: what is put is there, durable, and a field left out keeps its value`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1", #","spoilerFree":true,"timeZone":"GMT+2""#).status == 204)
            #expect(rig.store.lane("d1")?.record.settings.user == "u")
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"sound":true}"#).status == 204)
            let settings = await rig.supervisor.state(of: "d1")?.kept.settings
            #expect(settings?.spoilerFree == true && settings?.sound == true && settings?.timeZone == "GMT+2")
        }
    }

    @Test(arguments: [
        (#"{"pushToStartToken":"aa"}"#, "/gateway"),
        (#"{"pushToStartToken":"abc","gateway":"sandbox"}"#, "/pushToStartToken"),
        (#"{"gateway":"staging"}"#, "/gateway"), (#"{"timeZone":"Nowhere/Land"}"#, "/timeZone"),
        (#"{"quietHours":{"from":"22:00","to":"22:00"}}"#, "/quietHours"),
        (#"{"quietHours":{"from":"24:00","to":"07:00"}}"#, "/quietHours/from"), (#"{"user":""}"#, "/user"),
        (#"{"sound":1}"#, "/sound"), (#"{"spoilerfree":true}"#, "/spoilerfree"), (#"{"app":"other"}"#, "/app"),
    ])
    func `422: a device's field at fault is named`(body: String, field: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            let answer = await rig.call("PUT", "/v1/devices/d1", body)
            #expect(answer.status == 422 && answer.isProblem && answer.field == field)
            #expect(await rig.supervisor.state(of: "d1") == nil)
        }
    }

    @Test func `app: needed where several are served`() async throws {
        let rig = try await APIRig(apps: [APIRig.app, AppID(unchecked: "other")])
        try await rig.running {
            let without = await rig.call("PUT", "/v1/devices/d1", "{}")
            #expect(without.status == 422 && without.field == "/app")
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"app":"other"}"#).status == 204)
            #expect(await rig.supervisor.state(of: "d1")?.kept.app == AppID(unchecked: "other"))
        }
    }

    @Test func `409: a device stays one of its app, and says so, until it is deleted`() async throws {
        let other = AppID(unchecked: "other")
        let rig = try await APIRig(apps: [APIRig.app, other])
        try await rig.running {
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"app":"other","user":"u"}"#).status == 204)
            let moved = await rig.call("PUT", "/v1/devices/d1", #"{"app":"\#(APIRig.app)","user":"v"}"#)
            #expect(moved.status == 409 && moved.isProblem && moved.field == "/app")
            #expect(moved.json?["detail"]?.text?.contains("one of the app other") == true)
            let kept = await rig.supervisor.state(of: "d1")?.kept
            #expect(kept?.app == other && kept?.settings.user == "u")
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"app":"other"}"#).status == 204)
            #expect(await rig.call("DELETE", "/v1/devices/d1").status == 204)
            while await rig.supervisor.state(of: "d1") != nil { await Task.yield() }
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"app":"\#(APIRig.app)"}"#).status == 204)
            #expect(await rig.supervisor.state(of: "d1")?.kept.app == APIRig.app)
        }
    }

    @Test func `a large body is taken as a small one is`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let many = (0..<2000).map { #""team-\#($0)":0.5"# }.joined(separator: ",")
            let answer = await rig.call("PUT", "/v1/devices/d1", #"{"personalisation":{"teams":{\#(many)}}}"#)
            #expect(answer.status == 204)
            let kept = await rig.supervisor.state(of: "d1")?.kept.settings.personalisation
            if case .unreadable(let text) = kept { #expect(text.utf8.count > 30_000) } else { Issue.record("readable") }
        }
    }

    @Test func `delete: 204 also when repeated, and for one that never was`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            for _ in 0..<3 { #expect(await rig.call("DELETE", "/v1/devices/d1").status == 204) }
            #expect(await rig.call("GET", "/v1/devices/d1").status == 404)
        }
    }

    @Test func `selection: 409 when an older one comes late, with the time that is held`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            #expect(await rig.call("PUT", "/v1/devices/d1/selection", Self.selection).status == 204)
            #expect(await rig.call("PUT", "/v1/devices/d1/selection", Self.selection).status == 204)
            let older = #"{"games":["g2"],"syncedAt":1768075199.9}"#
            let answer = await rig.call("PUT", "/v1/devices/d1/selection", older)
            #expect(answer.status == 409 && answer.isProblem && answer.field == "/syncedAt")
            #expect(answer.json?["heldSyncedAt"]?.wholeNumber == 1_768_075_200)
        }
    }

    @Test func `selection: one ahead of the server's clock counts as now`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let ahead = #"{"games":["g1"],"syncedAt":1768079999}"#
            #expect(await rig.call("PUT", "/v1/devices/d1/selection", ahead).status == 204)
            rig.clock.advance(bySeconds: 1)
            let next = #"{"games":["g2"],"syncedAt":1768075201}"#
            #expect(await rig.call("PUT", "/v1/devices/d1/selection", next).status == 204)
        }
    }

    @Test(arguments: [
        (#"{"updateToken":"aa","gateway":"sandbox","startedBy":"push"}"#, "/activity"),
        (#"{"activity":"a","gateway":"sandbox","startedBy":"push"}"#, "/updateToken"),
        (#"{"activity":"a","updateToken":"aa","startedBy":"push"}"#, "/gateway"),
        (#"{"activity":"a","updateToken":"aa","gateway":"sandbox"}"#, "/startedBy"),
        (#"{"activity":"a","updateToken":"aa","gateway":"sandbox","startedBy":"me"}"#, "/startedBy"),
        (#"{"activity":"a b","updateToken":"aa","gateway":"sandbox","startedBy":"app"}"#, "/activity"),
        (#"{"activity":"a","updateToken":"aa","gateway":"sandbox","startedBy":"app","began":"now"}"#, "/began"),
    ])
    func `422: a card's field at fault is named`(body: String, field: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let answer = await rig.call("PUT", "/v1/devices/d1/cards/slate", body)
            #expect(answer.status == 422 && answer.field == field)
        }
    }

    @Test func `cards: a token of the slate or of a session is taken, another key is 404`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            await rig.play("g1")
            #expect(await rig.call("PUT", "/v1/devices/d1/cards/slate", Self.card).status == 204)
            let state = await rig.supervisor.state(of: "d1")?.card(.slate)
            #expect(state?.state == .confirmed && state?.ageBegan == WallTime(fractionalSeconds: 1768075190.5))
            let unknown = await rig.call("PUT", "/v1/devices/d1/cards/nap-7", Self.card)
            #expect(unknown.status == 404 && unknown.isProblem)
        }
    }

    @Test(arguments: CardReport.Kind.allCases)
    func `reports: each kind is taken`(kind: CardReport.Kind) async throws {
        let rig = try await APIRig()
        try await rig.running {
            let pushed = #"{"activity":"a1","updateToken":"aa","gateway":"production","startedBy":"push"}"#
            #expect(await rig.register("d1").status == 204)
            await rig.play("g1")
            #expect(await rig.call("PUT", "/v1/devices/d1/cards/slate", pushed).status == 204)
            let body = #"{"report":"\#(kind.rawValue)","activity":"a1","at":1768075300}"#
            #expect(await rig.call("POST", "/v1/devices/d1/cards/slate/reports", body).status == 204)
            let stands = await rig.supervisor.state(of: "d1")?.card(.slate) != nil
            #expect(stands == (kind == .opened || kind == .stale))
        }
    }

    @Test(arguments: [
        (#"{"activity":"a","at":1}"#, "/report"), (#"{"report":"gone","activity":"a","at":1}"#, "/report"),
        (#"{"report":"ended","at":1}"#, "/activity"), (#"{"report":"ended","activity":"a"}"#, "/at"),
        (#"{"report":"ended","activity":"a","at":1768075200000}"#, "/at"),
    ])
    func `422: a report's field at fault is named`(body: String, field: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let answer = await rig.call("POST", "/v1/devices/d1/cards/slate/reports", body)
            #expect(answer.status == 422 && answer.field == field)
        }
    }

    @Test func `what the app's own module says of its calls is what is taken here`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            var patch = DevicePatch()
            patch.user = .value("u")
            patch.pushToStart = .value(PushAddress(token: [1, 2], gateway: .sandbox))
            patch.quietHours = try .value(#require(QuietHours(fromMinute: 60, toMinute: 90)))
            patch.personalisation = .readable(Taste(teams: ["A": 0.5], leagues: [:], minimumWorth: 1, maxGames: 2))
            let address = PushAddress(token: [3], gateway: .sandbox)
            let began = WallTime(milliseconds: APIRig.evening.milliseconds - 1500)
            let reports: [ClientReport] = [
                .device(patch, app: nil),
                .selection(games: ["g1"], pinned: "g1", muted: [], syncedAt: APIRig.evening),
                .cardToken(
                    CardToken(
                        key: .slate, activity: ActivityID(unchecked: "a"), address: address, startedBy: .app,
                        began: began)),
                .card(CardReport(key: .slate, kind: .opened, activity: ActivityID(unchecked: "a"), at: APIRig.evening)),
            ]
            for report in reports {
                let call = report.call(of: "d1")
                let answer = await rig.call(
                    call.method.rawValue, call.path, String(decoding: call.body.bytes, as: UTF8.self))
                #expect(answer.status == 204, "\(call.path): \(answer.text)")
            }
        }
    }

    @Test func `known fault 3: after two unproven nights every answer asks for the token, until one comes`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            for night in 0..<3 {
                let at = rig.clock.now.unixSeconds
                let game =
                    #"{"t":\#(at),"type":"game","game":"n\#(night)","sport":"hockey","home":"H","away":"A","startsAt":\#(at)}"#
                #expect(await rig.call("POST", "/v1/ticks", game, type: "application/x-ndjson").status == 200)
                await rig.supervisor.settle()
                await rig.pass(seconds: 86_400)
            }
            #expect(rig.pusher.sent.count == 2)
            let shown = await rig.call("GET", "/v1/devices/d1")
            #expect(shown.json?["needsToken"] == .bool(true))
            let calls = [
                ("PUT", "/v1/devices/d1", "{}"),
                ("PUT", "/v1/devices/d1/selection", #"{"games":[],"syncedAt":1769000000}"#),
                ("PUT", "/v1/devices/d1/selection", #"{"games":[],"syncedAt":1}"#),
                ("PUT", "/v1/devices/d1", #"{"pushToStartToken":null}"#),
            ]
            for (method, path, body) in calls {
                let answer = await rig.call(method, path, body)
                #expect(answer[header: "Lanekeeper-Needs"] == "push-to-start-token", "\(body): \(answer.status)")
            }
            #expect(rig.store.lane("d1")?.record.ledger.awaitsToken == true)
            let told = await rig.call("PUT", "/v1/devices/d1", #"{"pushToStartToken":"a9","gateway":"production"}"#)
            #expect(told.status == 204 && told[header: "Lanekeeper-Needs"] == nil)
            #expect(await rig.call("GET", "/v1/devices/d1").json?["needsToken"] == .bool(false))
        }
    }
}

extension APIRig {
    /// A game that is under way.
    func play(_ game: String) async {
        let lines =
            #"{"t":1768075200,"type":"game","game":"\#(game)","sport":"hockey","home":"H","away":"A"}"# + "\n"
            + #"{"t":1768075201,"type":"score","game":"\#(game)","home":0,"away":0,"period":1,"phase":"live"}"#
        #expect(await call("POST", "/v1/ticks", lines, type: "application/x-ndjson").status == 200)
        await supervisor.settle()
    }

    /// Time passes for the system, at every time that it asks for.
    func pass(seconds: Double) async {
        let end = clock.now.advanced(bySeconds: seconds)
        while let next = await supervisor.nextDeadline, next <= end {
            if next > clock.now { clock.set(next) }
            await supervisor.passTime()
            await supervisor.settle()
        }
        clock.set(end)
        await supervisor.passTime()
        await supervisor.settle()
    }
}
