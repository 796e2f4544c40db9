import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct TimelineCallTests {
    private func seqs(_ answer: Answered) -> [Int] {
        guard case .array(let entries) = answer.json?["entries"] else { return [] }
        return entries.compactMap { $0["seq"]?.wholeNumber }
    }

    @Test func `timeline: the newest entries in rising order; next leads on, without gap or repeat`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            for number in 1...10 { rig.backend.add("entry \(number)", of: number % 2 == 0 ? "d1" : "d2") }
            let newest = await rig.call("GET", "/v1/devices/d1/timeline?limit=2")
            #expect(seqs(newest) == [8, 10] && newest.json?["next"]?.wholeNumber == 10)
            var after = 0
            var all: [Int] = []
            for _ in 0..<4 {
                let portion = await rig.call("GET", "/v1/devices/d1/timeline?after=\(after)&limit=2")
                all += seqs(portion)
                after = portion.json?["next"]?.wholeNumber ?? -1
            }
            #expect(all == [2, 4, 6, 8, 10] && after == 10)
        }
    }

    @Test func `timeline: an entry in full, and what does not apply is null`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let sent = TimelineEntry(
                at: WallTime(milliseconds: 1_768_075_200_999), key: .slate, kind: .verdict, rule: .g3,
                detail: "a \"quoted\" line\nand another")
            let push = PushSummary(
                event: .start, gateway: .sandbox, priority: 10, status: 410, reason: "Unregistered")
            rig.backend.add([
                TimelineRow(device: "d1", entry: sent, apnsID: "0-1", push: push),
                TimelineRow(
                    device: "d1",
                    entry: TimelineEntry(
                        at: APIRig.evening, key: nil, kind: .sync, rule: nil, detail: "x",
                        probe: ProbeStep(variant: nil, event: .dropped)),
                    apnsID: nil, push: nil),
            ])
            let answer = await rig.call("GET", "/v1/devices/d1/timeline")
            #expect(
                answer.text == #"{"entries":[{"seq":1,"at":1768075200,"key":"slate","kind":"verdict","rule":"G3","#
                    + #""detail":"a \"quoted\" line\nand another","push":{"id":"0-1","event":"start","gateway":"sandbox","#
                    + #""priority":10,"status":410,"reason":"Unregistered"},"probe":null},"#
                    + #"{"seq":2,"at":1768075200,"key":null,"kind":"sync","rule":null,"detail":"x","push":null,"probe":{"variant":null,"event":"dropped"}}],"next":2}"#
            )
        }
    }

    @Test(arguments: [
        "limit=0", "limit=1001", "limit=x", "limit=", "after=-1", "after=1.5", "after=9223372036854775808",
        "after=1&after=2", "afte=1", "limit=+5",
    ])
    func `422: a query that is none`(query: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let answer = await rig.call("GET", "/v1/devices/d1/timeline?\(query)")
            #expect(answer.status == 422 && answer.isProblem)
        }
    }
}

@Suite struct EventTests {
    @Test func `events: what comes from now on, with id, kind and data; one line each`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            rig.backend.add("before", of: "d1")
            let answer = await rig.call("GET", "/v1/events?device=d1")
            #expect(answer.status == 200 && answer[header: "Content-Type"] == "text/event-stream")
            let stream = try #require(answer.stream)
            rig.backend.add("another's", of: "d2")
            rig.backend.add("first\nsecond", of: "d1")
            await until("the event") { stream.ids == [3] }
            #expect(stream.data.first?["detail"]?.text == "first\nsecond")
            #expect(stream.text.contains("id: 3\nevent: sync\ndata: {"))
            #expect(stream.text.hasPrefix("retry: 1000\n\n"))
            #expect(stream.data.first?["device"] == nil)
        }
    }

    @Test func `events: all devices', each with its own name`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let stream = try #require(await rig.call("GET", "/v1/events").stream)
            rig.backend.add("a", of: "d1")
            rig.backend.add("b", of: "d2")
            await until("both") { stream.ids == [1, 2] }
            #expect(stream.data.map { $0["device"]?.text } == ["d1", "d2"])
        }
    }

    @Test(arguments: [([("Last-Event-ID", "2")], ""), ([], "?after=2"), ([("Last-Event-ID", "2")], "?after=4")])
    func `events: go on behind the last one seen; the header goes before the query`(
        headers: [(String, String)], query: String
    ) async throws {
        let rig = try await APIRig()
        try await rig.running {
            for number in 1...5 { rig.backend.add("\(number)", of: "d1") }
            let answer = await rig.call(
                "GET", "/v1/events\(query)", headers: headers.map { (name: $0.0, value: $0.1) })
            let stream = try #require(answer.stream)
            await until("what was missed") { stream.ids == [3, 4, 5] }
            rig.backend.add("6", of: "d1")
            await until("what is new") { stream.ids == [3, 4, 5, 6] }
        }
    }

    @Test func `events: a place ahead of the newest row, of a store that was before, is taken for the newest`()
        async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            for number in 1...3 { rig.backend.add("\(number)", of: "d1") }
            let answer = await rig.call("GET", "/v1/events", headers: [(name: "Last-Event-ID", value: "5000")])
            let stream = try #require(answer.stream)
            await until("it listens") { !stream.text.isEmpty }
            rig.backend.add("4", of: "d1")
            await until("what is new") { stream.ids == [4] }
        }
    }

    @Test func `events: a long absence comes in portions, each row once and in order, while others go on`() async throws
    {
        let rig = try await APIRig()
        try await rig.running {
            let current = try #require(await rig.call("GET", "/v1/events").stream)
            await until("it listens") { !current.text.isEmpty }
            for number in 1...350 { rig.backend.add("\(number)", of: number % 2 == 0 ? "d1" : "d2") }
            #expect(await rig.register("d1").status == 204)
            let behind = try #require(await rig.call("GET", "/v1/events?device=d1&after=0").stream)
            for number in 351...360 { rig.backend.add("\(number)", of: "d1") }
            let wanted = (1...360).filter { $0 > 350 || $0 % 2 == 0 }.map { Int64($0) }
            await until("all of them") {
                rig.clock.advance(bySeconds: EventHub.portionSeconds)
                return behind.ids.count >= wanted.count && current.ids.count >= 360
            }
            #expect(behind.ids == wanted)
            #expect(current.ids == Array(1...360))
        }
    }

    @Test func `events: a portion is bounded, and the next one waits for time to pass`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            for number in 1...250 { rig.backend.add("\(number)", of: "d1") }
            let stream = try #require(await rig.call("GET", "/v1/events?after=0").stream)
            await until("the first portion") { stream.ids.count == EventHub.portionRows }
            for _ in 0..<100 { await Task.yield() }
            #expect(stream.ids.count == EventHub.portionRows)
            await until("the rest") {
                rig.clock.advance(bySeconds: EventHub.portionSeconds)
                return stream.ids.count == 250
            }
        }
    }

    @Test func `events: the store away for a while costs nothing`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let stream = try #require(await rig.call("GET", "/v1/events").stream)
            rig.backend.add("1", of: "d1")
            await until("the first") { stream.ids == [1] }
            rig.backend.fail(with: .unavailable(detail: "gone"))
            let reads = rig.backend.reads
            rig.backend.add("2", of: "d1")
            await until("it was tried") { rig.backend.reads > reads }
            #expect(await rig.call("GET", "/v1/events").status == 503)
            rig.backend.fail(with: nil)
            rig.backend.add("3", of: "d1")
            await until("both") { stream.ids == [1, 2, 3] }
        }
    }

    @Test func `events: as many streams as may be; one that goes makes room`() async throws {
        let rig = try await APIRig { $0.eventStreams = 2 }
        try await rig.running {
            let first = try #require(await rig.call("GET", "/v1/events").stream)
            _ = try #require(await rig.call("GET", "/v1/events").stream)
            let third = await rig.call("GET", "/v1/events")
            #expect(third.status == 503 && third[header: "Retry-After"] == "5")
            first.hangUp()
            #expect(await rig.call("GET", "/v1/events").stream != nil)
        }
    }

    @Test func `events: nobody listens, nobody reads the store`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let stream = try #require(await rig.call("GET", "/v1/events").stream)
            await until("it listens") { !stream.text.isEmpty }
            stream.hangUp()
            rig.backend.add("settles", of: "d1")
            for _ in 0..<200 { await Task.yield() }
            let reads = rig.backend.reads
            for _ in 0..<20 { rig.backend.add("unheard", of: "d1") }
            for _ in 0..<200 { await Task.yield() }
            #expect(rig.backend.reads == reads)
        }
    }

    @Test func `events: a comment now and then; the end of the work ends the stream`() async throws {
        let rig = try await APIRig()
        var stream: RigStream?
        try await rig.running {
            let open = try #require(await rig.call("GET", "/v1/events").stream)
            stream = open
            await until("comments") {
                rig.clock.advance(bySeconds: 1)
                return open.comments >= 3
            }
        }
        #expect(stream?.isClosed == true)
    }

    @Test func `events: 404 for a device that is not there, 422 for an id that is none`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.call("GET", "/v1/events?device=nobody").status == 404)
            #expect(await rig.call("GET", "/v1/events?device=a%20b").status == 422)
            #expect(await rig.call("GET", "/v1/events", headers: [(name: "Last-Event-ID", value: "x")]).status == 422)
        }
    }
}
