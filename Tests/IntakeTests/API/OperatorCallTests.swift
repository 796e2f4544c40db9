import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct OperatorCallTests {
    @Test func `moments: the phones named have it, and only they`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            for device in ["d1", "d2"] { #expect(await rig.register(device).status == 204) }
            let games = ["g1", "g2"].map {
                #"{"t":1768075200,"type":"game","game":"\#($0)","sport":"hockey","home":"H","away":"A","startsAt":1768075200}"#
            }
            let ticks = await rig.call("POST", "/v1/ticks", games.joined(separator: "\n"), type: "application/x-ndjson")
            #expect(ticks.status == 200)
            await rig.supervisor.settle()
            await rig.pass(seconds: 120)
            let body = #"{"game":"g2","kind":"overtime","seconds":30,"devices":["d1"]}"#
            #expect(await rig.call("POST", "/v1/moments", body).status == 202)
            await rig.supervisor.settle()
            #expect(await rig.supervisor.state(of: "d1")?.card(.slate)?.front?.game == "g2")
            #expect(await rig.supervisor.state(of: "d2")?.card(.slate)?.front?.game == "g1")
        }
    }

    @Test(arguments: [
        (#"{"kind":"overtime","seconds":30,"devices":["d1"]}"#, "/game"),
        (#"{"game":"g","kind":"miracle","seconds":30,"devices":["d1"]}"#, "/kind"),
        (#"{"game":"g","kind":"upset","seconds":0,"devices":["d1"]}"#, "/seconds"),
        (#"{"game":"g","kind":"upset","seconds":1e99,"devices":["d1"]}"#, "/seconds"),
        (#"{"game":"g","kind":"upset","seconds":30,"devices":[]}"#, "/devices"),
        (#"{"game":"g","kind":"upset","seconds":30,"devices":["d1","d9"]}"#, "/devices/1"),
        (#"{"game":"h","kind":"upset","seconds":30,"devices":["d1"]}"#, "/game"),
    ])
    func `422: a moment's field at fault is named, and nothing was done`(body: String, field: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let game = #"{"t":1768075200,"type":"game","game":"g","sport":"hockey","home":"H","away":"A"}"#
            #expect(await rig.call("POST", "/v1/ticks", game, type: "application/x-ndjson").status == 200)
            let answer = await rig.call("POST", "/v1/moments", body)
            #expect(answer.status == 422 && answer.field == field)
        }
    }

    @Test func `probes: the variants in order, a minute apart; one at a time (409)`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            for device in ["d1", "d2"] { #expect(await rig.register(device).status == 204) }
            let begun = await rig.call("POST", "/v1/probes", #"{"device":"d1","gateway":null}"#)
            #expect(begun.status == 202)
            guard case .array(let variants) = begun.json?["variants"] else { return }
            #expect(
                variants.map { $0["name"]?.text } == [
                    "full", "no-alert", "stale-date", "no-input-push-token", "bare-content",
                ])
            #expect(variants.map { $0["at"]?.wholeNumber } == (0..<5).map { 1_768_075_200 + 60 * $0 })
            for device in ["d1", "d2"] {
                let again = await rig.call("POST", "/v1/probes", #"{"device":"\#(device)"}"#)
                #expect(again.status == 409 && again.isProblem)
            }
        }
    }

    @Test func `probes: 422 for a device that is not there, has no token, or another gateway`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.call("POST", "/v1/probes", #"{"device":"d1"}"#).field == "/device")
            #expect(await rig.call("PUT", "/v1/devices/d1", #"{"user":"u","osVersion":"18.0"}"#).status == 204)
            #expect(await rig.call("POST", "/v1/probes", #"{"device":"d1"}"#).status == 422)
            #expect(await rig.call("POST", "/v1/probes", #"{"device":"d1","gateway":"moon"}"#).field == "/gateway")
        }
    }

    @Test func `probes: 409 without five units of the hard cap`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            for round in 0..<3 {
                let answer = await rig.call("POST", "/v1/probes", #"{"device":"d1"}"#)
                #expect(answer.status == (round < 2 ? 202 : 409), "\(answer.text)")
                await rig.supervisor.settle()
                await rig.pass(seconds: 3600)
            }
        }
    }

    @Test func `gateways: paused and resumed, each also when repeated; another name is 404`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            for _ in 0..<2 { #expect(await rig.call("POST", "/v1/gateways/production/pause").status == 204) }
            let paused = try await rig.store.pausedGateways()
            #expect(paused == [.production])
            for _ in 0..<2 { #expect(await rig.call("POST", "/v1/gateways/production/resume").status == 204) }
            let left = try await rig.store.pausedGateways()
            #expect(left.isEmpty)
            #expect(await rig.call("POST", "/v1/gateways/staging/pause").status == 404)
        }
    }

    @Test func `readyz: 503 with the reasons while not ready, healthz lives all the same`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            rig.backend.be(APIReadiness(reasons: ["store unreachable", "lanes not loaded"]))
            let answer = await rig.call("GET", "/readyz", key: nil)
            #expect(answer.status == 503 && answer.isProblem && answer[header: "Retry-After"] == "1")
            #expect(answer.json?["reasons"]?[0]?.text == "store unreachable")
            #expect(answer.detail == "store unreachable; lanes not loaded")
            #expect(await rig.call("GET", "/healthz", key: nil).status == 200)
        }
    }

    @Test func `metrics: as they are, without a key`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let answer = await rig.call("GET", "/metrics", key: nil)
            #expect(answer.text == "lanekeeper_up 1\n")
            #expect(answer[header: "Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        }
    }

    @Test func `keys: replaced ones count from the next request on; the digest alone is kept`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            rig.keys.replace(with: [try APIRig.key("next", "another", [.feed])])
            #expect(await rig.call("GET", "/v1/slate").status == 401)
            #expect(await rig.call("GET", "/v1/slate", key: "another").status == 200)
            #expect(await rig.call("POST", "/v1/gateways/sandbox/pause", key: "another").status == 403)
            // FIPS 180-2, its first example.
            #expect(
                APIKey.sha256(ofKey: "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
            #expect(APIKey(name: "short", scopes: [.feed], sha256: "ba78") == nil)
        }
    }

    @Test func `what the server refuses by itself is a problem too`() async throws {
        let rig = try await APIRig()
        let answer = rig.api.refusal(status: 431, detail: "the head is too large")
        #expect(answer.status == 431 && answer.headers["Content-Type"] == "application/problem+json")
        #expect(Answered(answer).json?["title"]?.text == "Request Header Fields Too Large")
        #expect(rig.api.refusal(status: 503, detail: "").headers["Retry-After"] == "1")
    }

    @Test func `what waits when the work ends is told to try again`() async throws {
        let rig = try await APIRig()
        let waiter = rig.begin("GET", "/v1/slate")  // nobody works yet
        try await rig.running { #expect(await waiter.answer.status == 200) }
        let late = await rig.call("GET", "/v1/slate")
        #expect(late.status == 503 && late[header: "Retry-After"] == "1")
    }
}
