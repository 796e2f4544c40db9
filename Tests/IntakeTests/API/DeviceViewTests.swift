import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct DeviceViewTests {
    @Test func `a device's state: what does not apply is null`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.call("PUT", "/v1/devices/d1", "{}").status == 204)
            let state = await rig.call("GET", "/v1/devices/d1")
            #expect(
                state.text == #"{"device":"d1","app":"lineup","user":null,"superseded":false,"pushToStart":null,"#
                    + #""needsToken":false,"night":{"from":1768024800,"to":1768111200},"#
                    + #""ledger":{"sent":0,"accepted":0,"acknowledged":0,"withheld":{}},"selection":null,"cards":[],"#
                    + #""why":{},"deadlines":[]}"#)
        }
    }

    @Test func `a device's state: a card with its content, a token by its fingerprint, and why`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let token = "9A3F8C"
            let body =
                #"{"user":"u","gateway":"production","pushToStartToken":"\#(token)","osVersion":"18.0","personalisation":{"version":1,"teams":{},"leagues":{},"minimumWorth":0,"maxGames":4}}"#
            #expect(await rig.call("PUT", "/v1/devices/d1", body).status == 204)
            let game =
                #"{"t":1768075200,"type":"game","game":"g1","sport":"hockey","home":"H","away":"A","startsAt":1768075200}"#
            #expect(await rig.call("POST", "/v1/ticks", game, type: "application/x-ndjson").status == 200)
            await rig.supervisor.settle()
            let state = await rig.call("GET", "/v1/devices/d1")
            // The first 8 hex digits of the SHA-256 of "9a3f8c", by sha256sum.
            #expect(state.json?["pushToStart"]?["token"]?.text == "617933fe")
            #expect(!state.text.lowercased().contains(token.lowercased()))
            let card = state.json?["cards"]?[0]
            #expect(card?["key"]?.text == "slate" && card?["programme"]?.text == "slate")
            #expect(card?["state"]?.text == "believed" && card?["front"]?.text == "g1")
            #expect(card?["ageBegan"]?.wholeNumber == 1_768_075_200)
            #expect(card?["limitAt"]?.wholeNumber == 1_768_075_200 + 28_800)
            #expect(card?["content"]?["games"]?[0]?["home"]?.text == "H")
            #expect(card?["urgentLeft"]?.wholeNumber == 12)
            #expect(state.json?["ledger"]?["sent"]?.wholeNumber == 1)
            #expect(state.json?["why"]?["slate"]?["rule"]?.text == "S4")
            #expect(state[header: "Cache-Control"] == "no-store")
        }
    }

    @Test func `P2: what a spoiler-free card shows is shown without a score here too`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1", #","spoilerFree":true"#).status == 204)
            let lines =
                #"{"t":1768075200,"type":"game","game":"g1","sport":"hockey","home":"H","away":"A","startsAt":1768075200}"#
                + "\n" + #"{"t":1768075201,"type":"score","game":"g1","home":3,"away":1,"period":2,"phase":"live"}"#
            #expect(await rig.call("POST", "/v1/ticks", lines, type: "application/x-ndjson").status == 200)
            await rig.supervisor.settle()
            let content = await rig.call("GET", "/v1/devices/d1").json?["cards"]?[0]?["content"]
            #expect(content?["spoilerFree"] == .bool(true))
            #expect(content?["games"]?[0]?["id"]?.text == "g1" && content?["games"]?[0]?["homeScore"] == nil)
        }
    }

    @Test func `a session's card: its own content, and no front`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let body =
                #"{"devices":["d1"],"attributesType":"S","attributes":{},"content":{"b":1,"a":"\"é\""},"title":"T","startedAt":1768075200}"#
            #expect(await rig.call("PUT", "/v1/sessions/nap", body).status == 201)
            await rig.supervisor.settle()
            let card = await rig.call("GET", "/v1/devices/d1").json?["cards"]?[0]
            #expect(card?["key"]?.text == "nap" && card?["programme"]?.text == "session")
            #expect(card?["front"] == .null && card?["content"]?["a"]?.text == "\"é\"")
        }
    }

    @Test func `why: what the lane has forgotten over a restart is found on the timeline`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.call("PUT", "/v1/devices/d1", "{}").status == 204)
            let entries = [
                TimelineEntry(at: APIRig.evening, key: .slate, kind: .withheld, rule: .s5, detail: "older"),
                TimelineEntry(
                    at: APIRig.evening, key: .slate, kind: .withheld, rule: .s6, detail: "newer", changesWhen: "later"),
                TimelineEntry(at: APIRig.evening, key: .slate, kind: .sync, rule: .a1, detail: "no decision"),
            ]
            rig.backend.add(entries.map { TimelineRow(device: "d1", entry: $0, apnsID: nil, push: nil) })
            let why = await rig.call("GET", "/v1/devices/d1").json?["why"]?["slate"]
            #expect(why?["rule"]?.text == "S6" && why?["detail"]?.text == "newer")
            #expect(why?["changesWhen"]?.text == "later")
        }
    }
}
