import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

/// Each route against each error of api.md.
@Suite struct RouteErrorTests {
    private static let devicePaths = Route.all.filter {
        $0.path.contains(.parameter(.device)) && $0.method != .delete && $0.call != .putDevice
    }
    private static let scoped = Route.all.filter { $0.scope != nil }
    private static let withBody = Route.all.filter { $0.body != nil }
    private static let withJSON = Route.all.filter { $0.body?.mediaType == .json }

    @Test(arguments: Route.all, Way.allCases)
    func `each call: its example is answered as it says`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            let answer = await rig.example(of: route)
            let expected = try #require(route.answers.first { $0.status < 300 })
            #expect(answer.status == expected.status, "\(answer.text)")
            #expect(answer[header: "Content-Type"] == expected.content?.type.rawValue)
            if expected.content?.type == .json { #expect(answer.json != nil) }
        }
    }

    @Test(
        arguments: Route.all.filter { [.put, .delete].contains($0.method) || $0.call == .pauseGateway }, Way.allCases)
    func `each write: repeated it is answered alike, and harmless`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            let first = await rig.example(of: route)
            let again = await rig.example(of: route)
            #expect(again.status == (first.status == 201 ? 200 : first.status))
        }
    }

    @Test(arguments: scoped, Way.allCases)
    func `401: without a key, with a wrong one, with another scheme`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            for headers in [
                [], [("Authorization", "Bearer nobodys")], [("Authorization", "Basic \(APIRig.allKey)")],
                [("Authorization", APIRig.allKey)], [("Authorization", "Bearer ")],
            ] as [[(String, String)]] {
                let answer = await rig.example(of: route, key: nil, headers: headers)
                #expect(answer.status == 401 && answer.isProblem && !answer.wasRead)
                #expect(answer[header: "WWW-Authenticate"]?.hasPrefix("Bearer realm=") == true)
            }
        }
    }

    @Test(arguments: scoped, Way.allCases)
    func `403: with a key that has not the scope`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            let key = route.scope == .devices ? APIRig.feedKey : APIRig.devicesKey
            let answer = await rig.example(of: route, key: key)
            #expect(answer.status == 403 && answer.isProblem && !answer.wasRead)
            #expect(answer[header: "WWW-Authenticate"]?.contains("insufficient_scope") == true)
        }
    }

    @Test(arguments: Route.all.filter { $0.template.contains("{") }, Way.allCases)
    func `404: a segment that is none of its kind`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            for bad in ["", "a b", "a/b", String(repeating: "a", count: 129), "ä"] {
                // Cut into segments by the server, each decoded by itself: a slash may stand in one.
                let path = route.path.map { part in
                    if case .literal(let text) = part { text } else { bad }
                }
                let answer = await rig.send(path, way, method: route.method.rawValue)
                #expect(answer.status == 404 && answer.isProblem, "\(bad)")
            }
        }
    }

    @Test(arguments: devicePaths, Way.allCases)
    func `404: a device that is not there`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            let answer = await rig.example(of: route)
            #expect(answer.status == 404 && answer.isProblem)
            #expect(answer.detail?.contains("d1") == true)
        }
    }

    @Test(arguments: Way.allCases)
    func `404: paths that are none`(way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            for path in [
                "/", "/v1", "/v1/", "/v2/ticks", "/v1/ticks/", "/v1/devices", "/v1/devices/d1/cards", "/healthz/",
            ] {
                let answer = await rig.call("GET", path)
                #expect(answer.status == 404 && answer.isProblem, "\(path)")
            }
        }
    }

    @Test(arguments: Route.all, Way.allCases)
    func `405: another method, with those that the path takes`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            for method in ["PATCH", "OPTIONS", "get", "TRACE"] {
                let answer = await rig.call(method, route.example, key: nil)
                #expect(answer.status == 405 && answer.isProblem && !answer.wasRead)
                let allowed = answer[header: "Allow"]?.split(separator: ", ").map(String.init) ?? []
                let wanted = Route.all.filter { $0.template == route.template }.map(\.method.rawValue)
                #expect(Set(allowed) == Set(wanted + (wanted.contains("GET") ? ["HEAD"] : [])))
            }
        }
    }

    @Test(arguments: Route.all, Way.allCases)
    func `413: a body that announces more than may be, judged before it is read`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way) { $0.maximumBodyBytes = 1000 }
        try await rig.running {
            let length = route.body == nil ? 1 : 1001
            let answer = await rig.example(of: route, bodyLength: length)
            #expect(answer.status == 413 && answer.isProblem && !answer.wasRead)
        }
    }

    @Test(arguments: withBody, Way.allCases)
    func `415: another media type, none, or a compressed body`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            let type = try #require(route.body?.mediaType.rawValue)
            for headers in [
                [("Content-Type", "text/plain")], [], [("Content-Type", "application/jsonx")],
                [("Content-Type", type), ("Content-Encoding", "gzip")],
            ] as [[(String, String)]] {
                let answer = await rig.example(of: route, sendsType: false, headers: headers)
                #expect(answer.status == 415 && answer.isProblem && !answer.wasRead)
            }
            try await rig.prepare(for: route)
            let spoken = await rig.example(of: route, type: "\(type.uppercased()) ; charset=utf-8")
            #expect(spoken.status < 300, "\(spoken.text)")
        }
    }

    @Test(arguments: withJSON, Way.allCases)
    func `400: a body that is no JSON, with its line and column`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            let answer = await rig.call(route.method.rawValue, route.example, "{\n  \"a\": }")
            #expect(answer.status == 400 && answer.isProblem)
            #expect(answer.json?["line"]?.wholeNumber == 2 && answer.json?["column"]?.wholeNumber == 8)
            #expect(answer.detail?.contains("line 2, column 8") == true)
            for bad in ["\u{FEFF}{}", "{} {}", #"{"a":1,"a":2}"#, "{\"a\":\"\u{1}\"}"]
                + (route.body?.isRequired == true ? [""] : [])
            {
                let other = await rig.call(route.method.rawValue, route.example, bad, type: "application/json")
                #expect(other.status == 400, "\(bad)")
            }
        }
    }

    @Test(arguments: withJSON, Way.allCases)
    func `422: what is no object, and a key that is none`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            for bad in ["[]", "null", "7", "\"text\""] {
                let answer = await rig.call(route.method.rawValue, route.example, bad)
                #expect(answer.status == 422 && answer.isProblem && answer.field == "", "\(bad)")
            }
            let body = try #require(route.body)
            let text = body.example.with("nonsense", .integer(1))
            let answer = await rig.call(route.method.rawValue, route.example, text)
            #expect(answer.status == 422 && answer.field == "/nonsense")
        }
    }

    @Test(arguments: Route.all, Way.allCases)
    func `422: a query parameter that is none`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            let answer = await rig.example(of: route, query: "?nonsense=1")
            #expect(answer.status == 422 && answer.isProblem && !answer.wasRead)
        }
    }

    @Test(arguments: scoped, Way.allCases)
    func `503: before the lanes are there and when the daemon stops, with Retry-After`(route: Route, way: Way)
        async throws
    {
        let rig = try await APIRig(way)
        try await rig.running {
            rig.api.close(because: "not now")
            let answer = await rig.example(of: route)
            #expect(answer.status == 503 && answer.isProblem && !answer.wasRead)
            #expect(answer[header: "Retry-After"] == "1" && answer.detail == "not now")
            rig.api.open()
            try await rig.prepare(for: route)
            #expect(await rig.example(of: route).status < 300)
        }
    }

    @Test(arguments: Route.all.filter { $0.scope == nil }, Way.allCases)
    func `what is public is answered whatever the lanes do`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way) { $0.requestsWaiting = 0 }
        rig.api.close()
        try await rig.running {
            #expect(await rig.example(of: route, key: nil).status == 200)
        }
    }

    @Test(
        arguments: scoped.filter { $0.method != .get && $0.call != .deleteSession && $0.call != .postMoment },
        Way.allCases)
    func `503: a write that the store cannot keep, with Retry-After`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            rig.store.fail(with: .unavailable(detail: "gone"))
            rig.backend.fail(with: .unavailable(detail: "gone"))
            let answer = await rig.example(of: route)
            #expect(answer.status == 503 && answer.isProblem && answer[header: "Retry-After"] != nil, "\(answer.text)")
        }
    }

    @Test(arguments: scoped, Way.allCases)
    func `503: more requests than may wait`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way) { $0.requestsWaiting = 0 }
        try await rig.running {
            let answer = await rig.example(of: route)
            #expect(answer.status == 503 && answer.isProblem && answer[header: "Retry-After"] == "1")
        }
    }

    @Test(arguments: Route.all.filter { $0.method == .get }, Way.allCases)
    func `HEAD is answered wherever GET is, with the same status and type`(route: Route, way: Way) async throws {
        let rig = try await APIRig(way)
        try await rig.running {
            try await rig.prepare(for: route)
            let got = await rig.example(of: route)
            let head = await rig.call("HEAD", route.example)
            #expect(head.status == got.status && head[header: "Content-Type"] == got[header: "Content-Type"])
            #expect(head.stream == nil)
        }
    }

    @Test func `each call of api.md is in the table, once`() {
        #expect(Set(Route.all.map(\.call)) == Set(APICall.allCases))
        #expect(Route.all.count == APICall.allCases.count)
        #expect(
            Route.all.map { "\($0.method.rawValue) \($0.template) \($0.scope?.rawValue ?? "none")" } == [
                "PUT /v1/devices/{device} devices", "GET /v1/devices/{device} devices",
                "DELETE /v1/devices/{device} devices", "PUT /v1/devices/{device}/selection devices",
                "PUT /v1/devices/{device}/cards/{key} devices",
                "POST /v1/devices/{device}/cards/{key}/reports devices", "PUT /v1/sessions/{session} devices",
                "DELETE /v1/sessions/{session} devices", "POST /v1/ticks feed", "GET /v1/slate feed",
                "GET /v1/devices/{device}/timeline devices", "GET /v1/events devices", "POST /v1/moments admin",
                "POST /v1/probes admin", "POST /v1/gateways/{gateway}/pause admin",
                "POST /v1/gateways/{gateway}/resume admin", "GET /healthz none", "GET /readyz none",
                "GET /metrics none", "GET /openapi.json none",
            ])
    }
}

extension APIRig {
    /// What must be there before the example of a call can succeed.
    func prepare(for route: Route) async throws {
        guard route.call != .putDevice else { return }
        let answer = await register("d1")
        #expect(answer.status == 204, "\(answer.text)")
        guard route.call == .postMoment else { return }
        let game = #"{"t":1768075200,"type":"game","game":"nba-1","sport":"basketball","home":"H","away":"A"}"#
        #expect(await call("POST", "/v1/ticks", game, type: "application/x-ndjson").status == 200)
    }

    /// The example of a call, as the description gives it.
    func example(
        of route: Route, key: String? = APIRig.allKey, type: String? = nil, sendsType: Bool = true, query: String = "",
        headers: [(String, String)] = [], bodyLength: Int? = nil
    ) async -> Answered {
        var all = headers.map { (name: $0.0, value: $0.1) }
        if let key { all.append(("Authorization", "Bearer \(key)")) }
        if sendsType, let type = type ?? route.body?.mediaType.rawValue { all.append(("Content-Type", type)) }
        let body = route.body.map { $0.mediaType == .ndjson ? Array(($0.example.text ?? "").utf8) : $0.example.bytes }
        return await send(
            route.method.rawValue, route.example + query, all, body ?? [], bodyLength: bodyLength.map { .some($0) })
    }

    /// A path by its segments.
    func send(_ path: [String], _ way: Way, method: String) async -> Answered {
        let headers = [("Authorization", "Bearer \(APIRig.allKey)"), ("Content-Type", "application/json")]
        if way == .socket {
            let target = path.map { "/" + $0.escaped }.joined()
            return await send(method, target, headers.map { (name: $0.0, value: $0.1) }, [])
        }
        let head = WebRequestHead(
            method: method, path: path, headers: WebHeaders(headers.map { (name: $0.0, value: $0.1) }), bodyLength: 0)
        switch api.admit(head) {
        case .refused(let answer): return Answered(answer, wasRead: false)
        case .bodyOf:
            let waiter = Waiter()
            api.take(WebRequest(head: head), RigExchange(waiter))
            return await waiter.answer
        }
    }
}

extension String {
    /// Percent-encoded, all of it.
    fileprivate var escaped: String {
        utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension Route: CustomTestStringConvertible {
    var testDescription: String { "\(method.rawValue) \(template)" }

    /// A path that fits.
    var example: String {
        path.map { part in
            switch part {
            case .literal(let text): "/\(text)"
            case .parameter(.device): "/d1"
            case .parameter(.key): "/slate"
            case .parameter(.session): "/nap-7"
            case .parameter(.gateway): "/sandbox"
            }
        }.joined()
    }
}

extension JSONValue {
    var bytes: [UInt8] {
        JSONBuilder.object { $0.member("x", self) }.dropFirst(5).dropLast().map { $0 }
    }

    /// An object with one member more, as text.
    func with(_ key: String, _ value: JSONValue) -> String {
        guard case .object(let members) = self else { return "" }
        let all = JSONValue.object(members + [Member(key: key, value: value)])
        return String(decoding: all.bytes, as: UTF8.self)
    }
}
