import CardRules
import Foundation
import Intake
import Lanes
import Synchronization
import Testing
import WebServer

@testable import lanekeeper

@Suite(.timeLimit(.minutes(2))) struct DaemonCommandTests {
    private static let state = """
        {"device":"d1","app":"lineup","user":null,"superseded":false,"pushToStart":{"token":"9f86d081","gateway":"sandbox",
        "reportedAt":1784402000,"noneReportedAt":null},"needsToken":true,"night":{"from":1784368800,"to":1784455200},
        "ledger":{"sent":3,"accepted":2,"acknowledged":1,"withheld":{"S5":3,"S6":1}},
        "selection":{"games":["g1","g2"],"pinned":null,"muted":["g3"],"syncedAt":1784402001},
        "cards":[{"key":"slate","programme":"slate","state":"confirmed","activity":"A1\\u001b[2J","ageBegan":1784402100,
        "reissueAt":1784429900,"limitAt":1784430900,"front":"g1","content":{},"urgentLeft":4}],
        "why":{"slate":{"rule":"S3","detail":"a card stands","changesWhen":"it ends"}},
        "deadlines":[{"at":1784429900,"kind":"reissue","key":"slate"}]}
        """

    private static let timeline = """
        {"entries":[{"seq":7,"at":1784402100,"key":"slate","kind":"start","rule":"S1","detail":"overtime of g1","push":
        {"id":"A-1","event":"start","gateway":"sandbox","priority":10,"status":200,"reason":null}},
        {"seq":9,"at":1784505600,"key":null,"kind":"sync","rule":null,"detail":"2 games","push":null}],"next":9}
        """

    private func daemon(_ answer: @escaping @Sendable (WebRequest) -> WebAnswer) throws -> AnsweringServer {
        try AnsweringServer { request, exchange in exchange.answer(answer(request)) }
    }

    private static func json(_ text: String, _ status: Int = 200) -> WebAnswer {
        WebAnswer(status: status, headers: [("Content-Type", "application/json")], body: Array(text.utf8))
    }

    @discardableResult
    private func withKey<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("lanekeeper-key-\(ProcessInfo.processInfo.globallyUniqueString)")
        try Data("secret-key\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file.path)
    }

    @Test func `lane shows a phone's state, why, deadlines and timeline, with nothing that writes to a terminal`()
        async throws
    {
        let server = try daemon { $0.head.path.count == 3 ? Self.json(Self.state) : Self.json(Self.timeline) }
        let (lines, json) = try await withKey { key in
            let words = ["d1", "--url", server.url, "--key-file", key, "--limit", "5"]
            return (try await LaneCommand(words).run(), try await LaneCommand(words + ["--json"]).run())
        }
        #expect(
            lines == [
                "phone          d1 (app lineup)",
                "push-to-start  9f86d081 on sandbox, told 2026-07-18 19:13:20; needs a token: no start goes to this phone until one comes",
                "night          2026-07-18 10:00:00 to 2026-07-19 10:00:00",
                "starts         tonight 3 sent, 2 accepted, 1 acknowledged; withheld by S5 3, S6 1",
                "selection      g1 g2; muted g3; synced 2026-07-18 19:13:21",
                "card           slate slate confirmed; front g1; activity A1?[2J; since 2026-07-18 19:15:00; reissue 2026-07-19 02:58:20; limit 2026-07-19 03:15:00; 4 urgent updates left this hour",
                "why            slate S3: a card stands; changes when it ends",
                "next           2026-07-19 02:58:20 reissue slate",
                "", "timeline (UTC)", "2026-07-18",
                "  19:15:00  start  slate  S1  overtime of g1 [start sandbox p10 200 A-1]", "2026-07-20",
                "  00:00:00  sync              2 games",
            ])
        let document = try JSONDocument(Array(json.joined().utf8))
        #expect(
            document.root["device"]?["device"] == .string("d1") && document.root["timeline"]?["next"] == .integer(9))
        let heads = server.requests.map(\.head)
        #expect(heads.allSatisfy { $0.headers["authorization"] == "Bearer secret-key" && $0.method == "GET" })
        #expect(heads[1].path == ["v1", "devices", "d1", "timeline"] && heads[1].query.map(\.value) == ["5"])
        await server.stop()
    }

    @Test(arguments: [
        (
            401, "no such key",
            "401 Unauthorized: no such key; give a key of the daemon's http.keys: --key-file FILE or LANEKEEPER_KEY"
        ),
        (403, "needs admin", "403 Unauthorized: needs admin; lanekeeper key new --scope makes a key that may"),
        (404, "there is no device d1", "404 Unauthorized: there is no device d1"),
        (503, "full", "503 Unauthorized: full; try again in 7 s"),
    ])
    func `a refusal is told with what, where and what to do`(status: Int, detail: String, told: String) async throws {
        let server = try daemon { _ in
            WebAnswer(
                status: status, headers: [("Content-Type", "application/problem+json"), ("Retry-After", "7")],
                body: Array(#"{"title":"Unauthorized","status":\#(status),"detail":"\#(detail)"}"#.utf8))
        }
        try await withKey { key in
            await #expect(
                throws: DaemonFault(
                    "GET \(server.url)/v1/devices/d1: \(told)", isPassing: status == 503)
            ) { try await LaneCommand(["d1", "--url", server.url, "--key-file", key]).run() }
        }
        await server.stop()
    }

    @Test func `something else at the address, and nobody there, are told`() async throws {
        let server = try daemon { request in
            request.head.path.last == "timeline" ? Self.json("<html>") : Self.json("<html>", 502)
        }
        try await withKey { key in
            let words = ["d1", "--url", server.url, "--key-file", key]
            let strange = await failure { try await LaneCommand(words).run() }
            #expect(strange?.hasSuffix("/v1/devices/d1: 502; is this a lanekeeper's address?") == true)
            await server.stop()
            let nobody = await failure { try await LaneCommand(words).run() }
            #expect(
                nobody?.contains("not reachable") == true && nobody?.contains("is lanekeeper serve running") == true)
        }
    }

    private func failure(_ body: () async throws -> [String]) async -> String? {
        do { _ = try await body() } catch { return "\(error)" }
        return nil
    }

    @Test func `moment posts what it was told`() async throws {
        let server = try daemon { _ in WebAnswer(status: 202) }
        let lines = try await withKey { key in
            try await MomentCommand([
                "closeFinish", "--game", "g1", "--device", "d1", "--device", "d2", "--seconds", "45", "--url",
                server.url,
                "--key-file", key,
            ]).run()
        }
        #expect(lines == ["closeFinish of g1 for 45 s, for d1, d2"])
        let request = try #require(server.requests.first)
        #expect(request.head.method == "POST" && request.head.path == ["v1", "moments"])
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"devices":["d1","d2"],"game":"g1","kind":"closeFinish","seconds":45}"#)
        await server.stop()
    }

    /// Time that passes only by being waited for.
    private final class WaitedTime: WallClock {
        private let held = Mutex(WallTime(seconds: 1000))
        var now: WallTime { held.withLock { $0 } }
        func sleep(until deadline: WallTime) async throws { held.withLock { $0 = max($0, deadline) } }
    }

    @Test func `probe posts, follows the timeline over faults until all is known, and tells by its code`() async throws
    {
        let looks = Atomic<Int>(0)
        let server = try AnsweringServer { request, exchange in
            guard request.head.path.last != "probes" else {
                let names = ProbeVariant.allCases.map { #"{"name":"\#($0.rawValue)","at":1}"# }.joined(separator: ",")
                return exchange.answer(Self.json(#"{"variants":[\#(names)]}"#, 202))
            }
            func entry(_ variant: String, _ event: String, _ text: String) -> String {
                #"{"seq":1,"at":1000,"kind":"probe","key":"probe","rule":null,"detail":"\#(text)","push":null,"#
                    + #""probe":{"variant":\#(variant),"event":"\#(event)"}}"#
            }
            switch looks.add(1, ordering: .relaxed).newValue {
            case 1: exchange.answer(Self.json(#"{"entries":[],"next":5}"#))
            case 2: exchange.answer(Self.json("{}", 503))
            case 3:
                let sent = entry(#""full""#, "sent", "variant 1 of 5, full: sent")
                exchange.answer(Self.json(#"{"entries":[\#(sent)],"next":6}"#))
            default:
                let entries = [
                    entry(#""full""#, "token", "variant 1 of 5, full: its card stands and has its token; it is ended"),
                    entry("null", "dropped", "4 of 5 variants dropped: the probe was cut off by a restart"),
                ]
                exchange.answer(Self.json(#"{"entries":[\#(entries.joined(separator: ","))],"next":8}"#))
            }
        }
        let told = Mutex<[String]>([])
        let (lines, code) = try await withKey { key in
            try await ProbeCommand(["d1", "--gateway", "sandbox", "--url", server.url, "--key-file", key])
                .run(clock: WaitedTime(), tell: { line in told.withLock { $0.append(line) } }, isStopped: { false })
        }
        #expect(code == 0 && lines.count == 6 && lines[1].contains("token after 0 s"))
        #expect(lines[5].hasSuffix("not sent: the probe was cut off by a restart"))
        let progress = told.withLock { $0 }
        #expect(progress.first?.contains("503") == true, "nothing new is nothing to tell: \(progress)")
        #expect(progress.dropFirst(2).map { $0.prefix { $0 != " " } } == ProbeVariant.allCases.map { $0.rawValue[...] })
        let requests = server.requests
        #expect(String(decoding: requests[1].body, as: UTF8.self) == #"{"device":"d1","gateway":"sandbox"}"#)
        #expect(requests.dropFirst(2).map { $0.head.query.last?.value } == ["5", "5", "6"])
        await server.stop()
    }

    @Test func `probe stops waiting at its limit or when asked to, and tells what is known`() async throws {
        let server = try daemon { request in
            request.head.path.last == "probes" ? Self.json("{}", 202) : Self.json(#"{"entries":[],"next":0}"#)
        }
        try await withKey { key in
            let words = ["d1", "--url", server.url, "--key-file", key, "--seconds", "3"]
            let (lines, code) = try await ProbeCommand(words).run(
                clock: WaitedTime(), tell: { _ in }, isStopped: { false })
            #expect(code == 1 && lines.count == 6 && lines.last?.hasSuffix("not sent yet") == true)
            let looks = server.requests.count
            let stopped = try await ProbeCommand(words).run(clock: WaitedTime(), tell: { _ in }, isStopped: { true })
            #expect(stopped.code == 1 && server.requests.count == looks + 3)
            await #expect(throws: DaemonFault.self) {
                try await ProbeCommand(words + ["--last"]).run(
                    clock: WaitedTime(), tell: { _ in }, isStopped: { false })
            }
        }
        await server.stop()
    }

    @Test(arguments: [
        [], ["--url"], ["d1", "d2"], ["d1", "--limit", "0"], ["d1", "--key", "k"], ["d1", "--url", "x", "--frob"],
    ])
    func `lane used wrongly is told how`(words: [String]) {
        #expect(throws: WrongUse.self) { try LaneCommand(words) }
    }

    @Test(arguments: [
        [], ["sunset", "--game", "g", "--device", "d"], ["overtime", "--game", "g"], ["overtime", "--device", "d"],
        ["overtime", "--game", "g", "--device", "d", "--seconds", "3601"],
    ])
    func `moment used wrongly is told how`(words: [String]) {
        #expect(throws: WrongUse.self) { try MomentCommand(words) }
    }

    @Test(arguments: [[], ["d", "--gateway", "x"], ["d", "--last", "--gateway", "sandbox"], ["d", "--seconds", "0"]])
    func `probe used wrongly is told how`(words: [String]) {
        #expect(throws: WrongUse.self) { try ProbeCommand(words) }
    }

    @Test func `the key comes from a file or the environment, never from the command line, and must be one word`()
        async throws
    {
        var options = DaemonOptions()
        options.url = "http://127.0.0.1:1"
        #expect(try options.client(nil, environment: ["LANEKEEPER_KEY": " k1\n"]).key == "k1")
        for held in [[:], ["LANEKEEPER_KEY": ""], ["LANEKEEPER_KEY": "a b"], ["LANEKEEPER_KEY": "é"]] {
            #expect(throws: WrongUse.self) { try options.client(nil, environment: held) }
        }
        try await withKey { key in
            options.keyFile = key
            let client = try options.client(nil, environment: ["LANEKEEPER_KEY": "k1"])
            #expect(client.key == "secret-key")
        }
        options.keyFile = "/nowhere/key"
        #expect(throws: WrongUse.self) { try options.client(nil, environment: [:]) }
    }
}
