import CardRules
import Lanes
import PushWire
import Simulation
import Testing
import WebServer

@testable import Intake

@Suite struct OpenAPITests {
    private func document(_ rig: APIRig) async throws -> JSONValue {
        let answer = await rig.call("GET", "/openapi.json", key: nil)
        #expect(answer.status == 200 && answer[header: "Content-Type"] == "application/json")
        return try #require(answer.json)
    }

    @Test func `openapi: each call of the table is there with its scope, its body and its answers`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let document = try await document(rig)
            #expect(document["openapi"]?.text == "3.1.0")
            for route in Route.all {
                let operation = document["paths"]?[route.template]?[route.method.rawValue.lowercased()]
                #expect(operation?["operationId"]?.text == route.call.rawValue)
                #expect(operation?["x-scope"]?.text == route.scope?.rawValue)
                #expect((operation?["security"] == nil) == (route.scope == nil))
                for answer in route.answers { #expect(operation?["responses"]?["\(answer.status)"] != nil) }
                if let body = route.body {
                    #expect(
                        operation?["requestBody"]?["content"]?[body.mediaType.rawValue]?["schema"] == body.schema.json)
                }
            }
            guard case .object(let paths) = document["paths"] else { return }
            #expect(Set(paths.map(\.key)) == Set(Route.all.map(\.template)))
        }
    }

    @Test func `openapi: each name that is referred to is there, and each that is there is used`() async throws {
        let rig = try await APIRig()
        try await rig.running {
            let document = try await document(rig)
            var used: Set<String> = []
            func look(_ value: JSONValue) {
                switch value {
                case .array(let elements): elements.forEach(look)
                case .object(let members):
                    for member in members {
                        if member.key == "$ref", let name = member.value.text { used.insert(name) }
                        look(member.value)
                    }
                default: break
                }
            }
            look(document)
            guard case .object(let schemas) = document["components"]?["schemas"] else {
                Issue.record("no schemas")
                return
            }
            #expect(used == Set(schemas.map { "#/components/schemas/\($0.key)" }))
        }
    }

    @Test(arguments: Route.all)
    func `openapi: the status and the type of what is answered are described`(route: Route) async throws {
        let rig = try await APIRig { $0.maximumBodyBytes = 4000 }
        try await rig.running {
            let operation = try await document(rig)["paths"]?[route.template]?[route.method.rawValue.lowercased()]
            try await rig.prepare(for: route)
            let method = route.method.rawValue
            var answers = [
                await rig.example(of: route), await rig.example(of: route, query: "?x=1"),
                await rig.example(of: route, bodyLength: 5000),
            ]
            if route.scope != nil {
                answers += [
                    await rig.example(of: route, key: nil),
                    await rig.example(of: route, key: route.scope == .feed ? APIRig.devicesKey : APIRig.feedKey),
                ]
                rig.api.close()
                answers.append(await rig.example(of: route))
                rig.api.open()
            }
            if route.body != nil {
                answers += [
                    await rig.call(method, route.example, "x", type: "text/plain"),
                    await rig.call(method, route.example, "{", type: route.body?.mediaType.rawValue),
                    await rig.call(method, route.example, "[]", type: route.body?.mediaType.rawValue),
                ]
            }
            for answer in answers {
                let described = operation?["responses"]?["\(answer.status)"]
                #expect(described != nil, "\(answer.status)")
                guard let type = answer[header: "Content-Type"] else { continue }
                #expect(described?["content"]?[type] != nil, "\(answer.status) \(type)")
            }
        }
    }

    @Test func `a console answers what is no call, and nothing else`() async throws {
        let rig = try await APIRig(console: PageHandler())
        try await rig.running {
            for path in ["/", "/app.js", "/healthz/x"] {
                #expect(await rig.call("GET", path, key: nil).text == "page", "\(path)")
            }
            #expect(await rig.call("POST", "/", key: nil).status == 404)
            #expect(await rig.call("GET", "/v1/nothing", key: nil).status == 404)
            #expect(await rig.call("GET", "/healthz", key: nil).text != "page")
        }
    }
}

private struct PageHandler: WebHandler {
    func admit(_ head: WebRequestHead) -> WebAdmission { .bodyOf(maximumBytes: 0) }
    func take(_ request: WebRequest, _ exchange: any WebExchange) {
        exchange.answer(WebAnswer(status: 200, body: Array("page".utf8)))
    }
    func refusal(status: Int, detail: String) -> WebAnswer { WebAnswer(status: status) }
}
