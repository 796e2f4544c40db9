import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct SessionCallTests {
    private static func body(_ change: [String: JSONValue?] = [:]) -> String {
        var members: [String: JSONValue] = [
            "devices": .array([.string("d1")]), "attributesType": .string("SleepAttributes"),
            "attributes": .object(["session": .string("nap")]), "content": .object(["count": .integer(0)]),
            "title": .string("Sleep"), "startedAt": .integer(1_768_075_000),
        ]
        for (key, value) in change { members[key] = value }
        return String(decoding: JSONValue.object(members).bytes, as: UTF8.self)
    }

    private func put(_ change: [String: JSONValue?] = [:], id: String = "nap", on rig: APIRig) async -> Answered {
        await rig.call("PUT", "/v1/sessions/\(id)", Self.body(change))
    }

    @Test func `sessions: opened 201, repeated or changed 200, stopped 204, opened anew 201`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            #expect(await put(on: rig).status == 201)
            #expect(await put(on: rig).status == 200)
            #expect(
                await put(["content": .object(["count": .integer(1)]), "urgent": .bool(true)], on: rig).status == 200)
            #expect(rig.store.session("nap")?.terms.content["count"] == .integer(1))
            let end = #"{"content":{"count":2}}"#
            #expect(await rig.call("DELETE", "/v1/sessions/nap", end).status == 204)
            #expect(await rig.call("DELETE", "/v1/sessions/nap").status == 204)
            #expect(await rig.call("DELETE", "/v1/sessions/never").status == 204)
            #expect(rig.store.session("nap")?.terms.content["count"] == .integer(2))
            #expect(await put(on: rig).status == 201)
        }
    }

    @Test func `sessions: startedAt never changes (409)`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            #expect(await put(on: rig).status == 201)
            let answer = await put(["startedAt": .integer(1_768_075_001)], on: rig)
            #expect(answer.status == 409 && answer.isProblem && answer.field == "/startedAt")
        }
    }

    @Test(arguments: [
        ("devices", JSONValue.array([]), "/devices"),
        ("devices", .array([.string("d1"), .string("d2")]), "/devices/1"),
        ("devices", nil, "/devices"), ("attributesType", .string(""), "/attributesType"),
        ("attributesType", .string("  "), "/attributesType"), ("attributes", .array([]), "/attributes"),
        ("content", .null, "/content"), ("title", .integer(1), "/title"), ("title", .string(" "), "/title"),
        ("startedAt", nil, "/startedAt"), ("alert", .object(["title": .string("t")]), "/alert/body"),
        ("alert", .object(["title": .string("t"), "body": .string(" ")]), "/alert/body"),
        ("urgent", .string("yes"), "/urgent"), ("startedOn", .array([.string("d9")]), "/startedOn/0"),
        ("content", .object(["text": .string(String(repeating: "x", count: 4096))]), "/content"),
        ("attributes", .object(["text": .string(String(repeating: "x", count: 4096))]), "/attributes"),
    ])
    func `422: a session's field at fault is named`(key: String, value: JSONValue?, field: String) async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let answer = await put([key: value], on: rig)
            #expect(answer.status == 422 && answer.isProblem && answer.field == field, "\(answer.text)")
            #expect(rig.store.session("nap") == nil)
        }
    }

    @Test func `204: what a session shows last needs room in its end, not in another start`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            let attributes = JSONValue.object(["text": .string(String(repeating: "x", count: 3000))])
            #expect(await put(["attributes": attributes], on: rig).status == 201)
            func stop(_ count: Int) async -> Answered {
                let text = String(repeating: "y", count: count)
                return await rig.call("DELETE", "/v1/sessions/nap", #"{"content":{"text":"\#(text)"}}"#)
            }
            let large = await stop(4096)
            #expect(large.status == 422 && large.field == "/content")
            #expect(rig.store.session("nap")?.isRunning == true)
            #expect(await stop(2000).status == 204)
            #expect(rig.store.session("nap")?.isRunning == false)
        }
    }

    @Test func `422: the id slate; a payload too large tells its sizes`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            #expect(await rig.register("d1").status == 204)
            #expect(await put(id: "slate", on: rig).status == 422)
            let large = JSONValue.object(["text": .string(String(repeating: "x", count: 5000))])
            let answer = await put(["content": large], on: rig)
            #expect(answer.json?["sizes"]?["limit"]?.wholeNumber == 4096)
            #expect((answer.json?["sizes"]?["start"]?.wholeNumber ?? 0) > 5000)
            #expect(await put(on: rig).status == 201)
            let last = String(
                decoding: JSONValue.object(["content": large] as [String: JSONValue]).bytes, as: UTF8.self)
            let end = await rig.call("DELETE", "/v1/sessions/nap", last)
            #expect(end.status == 422 && end.field == "/content")
        }
    }
}

extension CardKey: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
