import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// Sessions through the whole system: checked, durable, told, completed after a crash.
@Suite struct SessionSystemTests {
    @Test func `P8, S4: a session that is put starts its card on each of its devices; put again it changes nothing`()
        async throws
    {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            for device: DeviceID in ["d1", "d2", "d3"] { _ = await rig.register(device, on: system) }
            let outcome1 = try await system.put("nap", Rig.terms(["d1", "d2"]))
            #expect(outcome1 == .opened)
            await system.settle()
            #expect(rig.pusher.starts == 2 && rig.pusher.sent(.start, to: "d3").isEmpty)
            let outcome2 = try await system.put("nap", Rig.terms(["d1", "d2"]))
            #expect(outcome2 == .unchanged)
            let outcome3 = try await system.put("nap", Rig.terms(["d1", "d2"], count: 1))
            #expect(outcome3 == .changed)
            await system.settle()
            #expect(rig.pusher.starts == 2)
            #expect(rig.store.session("nap")?.version == 2)
            #expect(rig.store.claims.count == 2)
        }
    }

    @Test func `P1, P3: what leaves is the session's own content, alert and attributes`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            _ = try await system.put("nap", Rig.terms(["d1"], count: 5))
            await system.settle()
            let text = try #require(rig.pusher.sent(.start).first).text
            #expect(text.contains(#""attributes":{"session":"nap"},"attributes-type":"SleepAttributes""#))
            #expect(text.contains(#""content-state":{"count":5}"#) && text.contains("Since 20:00"))
        }
    }

    @Test func `faults of a session name the field, and change nothing`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            func fault(_ id: CardKey = "nap", _ change: (inout SessionTerms) -> Void) async -> SessionFault? {
                var terms = Rig.terms(["d1"])
                change(&terms)
                do throws(SessionFault) {
                    _ = try await system.put(id, terms)
                    return nil
                } catch { return error }
            }
            #expect(await fault(.slate) { _ in } == .reservedID)
            #expect(await fault { $0.devices = [] } == .noDevices)
            #expect(await fault { $0.devices = ["d1", "gone"] } == .unknownDevice("gone", index: 1))
            #expect(await fault { $0.startedOn = ["d2"] } == .startedOnStranger("d2", index: 0))
            #expect(await fault { $0.content = .array([]) } == .notAnObject(field: "/content"))
            #expect(await fault { $0.attributes = .null } == .notAnObject(field: "/attributes"))
            #expect(await fault { $0.title = " " } == .blank(field: "/title"))
            #expect(await fault { $0.attributesType = "" }?.field == "/attributesType")
            #expect(await fault { $0.alert = SessionAlert(title: "", body: "b") }?.field == "/alert/title")
            #expect(await fault { $0.devices = (0...256).map { DeviceID(unchecked: "d\($0)") } }?.field == "/devices")
            #expect(rig.store.session("nap") == nil && rig.pusher.sent.isEmpty)
            _ = try await system.put("nap", Rig.terms(["d1"]))
            #expect(await fault { $0.startedAt = Rig.evening } == nil)
            let later = Rig.evening.advanced(bySeconds: 1)
            #expect(await fault { $0.startedAt = later } == .startedAtChanged(held: Rig.evening))
        }
    }

    @Test func `P8: a session too large is refused with the sizes and the limit, and one that fits to the byte is not`()
        async throws
    {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            func put(_ count: Int) async -> SessionFault? {
                var terms = Rig.terms(["d1"])
                terms.content = .object(["text": .string(String(repeating: "x", count: count))])
                do throws(SessionFault) {
                    _ = try await system.put("nap", terms)
                    return nil
                } catch { return error }
            }
            guard case .tooLarge(let sizes, let field)? = await put(4096) else {
                Issue.record("it was let in")
                return
            }
            #expect(field == "/content" && sizes.limit == 4096 && sizes.start > 4096 && sizes.end > 4096)
            let most = 4096 - (sizes.start - 4096)
            #expect(await put(most) == nil)
            guard case .tooLarge? = await put(most + 1) else {
                Issue.record("it was let in")
                return
            }
            await system.settle()
            #expect(rig.pusher.sent(.start).map(\.request.payload.count).allSatisfy { $0 <= 4096 })
            #expect(rig.store.session("nap")?.version == 1)
        }
    }

    @Test func `E3: stopped, a session ends on every phone that shows it, with the content shown last`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            for device: DeviceID in ["d1", "d2"] { _ = await rig.register(device, on: system) }
            _ = try await system.put("nap", Rig.terms(["d1", "d2"]))
            await system.settle()
            for device: DeviceID in ["d1", "d2"] {
                let answer = await system.answer(
                    to: Rig.cardToken(ActivityID(unchecked: "\(device)-nap"), key: "nap"), for: device)
                #expect(answer == .done)
            }
            let outcome4 = try await system.stop("nap", content: .object(["count": .integer(9)]))
            #expect(outcome4 == .stopped)
            let outcome5 = try await system.stop("nap")
            #expect(outcome5 == .unchanged)
            let outcome6 = try await system.stop("never")
            #expect(outcome6 == .unchanged)
            await system.settle()
            #expect(rig.pusher.sent(.end).count == 2)
            #expect(rig.pusher.sent(.end).allSatisfy { $0.text.contains(#""content-state":{"count":9}"#) })
            #expect(await system.state(of: "d1")?.kept.sessions.isEmpty == true)
        }
    }

    @Test func `L1: a session is durable before it is answered, and before any start of it leaves`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            await system.flush()
            rig.store.hold()
            async let outcome = system.put("nap", Rig.terms(["d1"]))
            await rig.until("the commit waits") { rig.store.heldCommits == 1 }
            for _ in 0..<1000 { await Task.yield() }
            #expect(rig.store.session("nap") == nil && rig.pusher.starts == 0)
            rig.store.release()
            let opened = try await outcome
            #expect(opened == .opened)
            await system.settle()
            #expect(rig.pusher.starts == 1)
        }
    }

    @Test func `a session that cannot be kept is told to try again, and then is as if it had never been`() async throws
    {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            rig.store.fail(with: .unavailable(detail: "disk"))
            await #expect(throws: SessionFault.unavailable(.unavailable(detail: "disk"))) {
                try await system.put("nap", Rig.terms(["d1"]))
            }
            rig.store.fail(with: nil)
            #expect(system.session("nap") == nil)
            let other = Rig.terms(["d1"], startedAt: Rig.evening.advanced(bySeconds: -60))
            let outcome7 = try await system.put("nap", other)
            #expect(outcome7 == .opened)
            await system.settle()
            #expect(rig.pusher.starts == 1 && rig.store.session("nap")?.version == 1)
        }
    }

    @Test func `L1, E3: a fan-out that a crash cut off is completed at the next start`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            for device: DeviceID in ["d1", "d2", "d3"] { _ = await rig.register(device, on: system) }
            _ = try await system.put("nap", Rig.terms(["d1", "d2"]))
            await system.settle()
            for device: DeviceID in ["d1", "d2"] {
                _ = await system.answer(
                    to: Rig.cardToken(ActivityID(unchecked: "\(device)-nap"), key: "nap"), for: device)
            }
            await system.flush()
        }
        // The process died when the session was durable and no lane had heard: d1 leaves, d3 comes in; one more is opened.
        let held = try #require(rig.store.session("nap"))
        let ride = Session.opened("ride", Rig.terms(["d2"], id: "ride"))
        await rig.keep([held.changed(to: Rig.terms(["d2", "d3"], count: 4)), ride])
        let before = rig.pusher.sent.count
        let again = try await rig.system()
        try await rig.running(again) {
            await rig.live(30, again)
            let news = rig.pusher.sent.dropFirst(before)
            func pushes(_ event: PushEvent, _ device: DeviceID) -> [OutgoingPush] {
                news.filter { $0.request.event == event && $0.ticket.device == device }
            }
            #expect(pushes(.end, "d1").count == 1 && pushes(.start, "d1").isEmpty)
            #expect(pushes(.update, "d2").last?.text.contains(#"{"count":4}"#) == true)
            #expect(pushes(.start, "d2").count == 1 && pushes(.start, "d3").count == 1)
        }
    }

    @Test func `L1: a restart starts nothing twice and forgets no session`() async throws {
        let rig = Rig()
        for round in 0..<3 {
            let system = try await rig.system()
            try await rig.running(system) {
                if round == 0 {
                    _ = await rig.register("d1", on: system)
                    _ = try await system.put("nap", Rig.terms(["d1"]))
                }
                await rig.live(700, system)
                #expect(system.session("nap")?.isRunning == true)
                #expect(rig.pusher.starts == 1, "round \(round)")
                await system.flush()
            }
        }
    }

    @Test func `a card under a key that is no session is unknown; one that the app started before the news is adopted`()
        async throws
    {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            let stranger = await system.answer(to: Rig.cardToken("a1", key: "never"), for: "d1")
            #expect(stranger == .unknownCard)
            let kept = await system.state(of: "d1")?.kept.cards
            #expect(kept == [])
            _ = try await system.put("nap", Rig.terms(["d1"], startedOn: ["d1"]))
            let answer = await system.answer(to: Rig.cardToken("own", key: "nap", startedBy: .app), for: "d1")
            #expect(answer == .done)
            await system.settle()
            #expect(rig.pusher.starts == 0)
            #expect(await system.state(of: "d1")?.card("nap")?.state == .confirmed)
        }
    }

    @Test func `two calls for one session at a time: the versions come out in order, the last stands`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            for device: DeviceID in ["d1", "d2"] { _ = await rig.register(device, on: system) }
            _ = try await system.put("nap", Rig.terms(["d1"]))
            await withTaskGroup(of: Void.self) { group in
                for count in Int64(1)...20 {
                    group.addTask {
                        _ = try? await system.put(
                            "nap", Rig.terms(count % 2 == 0 ? ["d1"] : ["d1", "d2"], count: count))
                    }
                }
            }
            await system.settle()
            let last = try #require(system.session("nap"))
            #expect(rig.store.session("nap") == last && last.version == 21)
            let second = await system.state(of: "d2")?.kept.sessions.first
            #expect(second.map { !$0.isOver } ?? false == last.terms.devices.contains("d2"))
        }
    }

    @Test func `S7: a session that names the older record of a phone goes on under the newer one`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            _ = await rig.register("old", token: [7], on: system)
            _ = try await system.put("nap", Rig.terms(["old"]))
            await system.settle()
            _ = await system.answer(to: Rig.cardToken("a1", key: "nap"), for: "old")
            _ = await rig.register("new", token: [7], on: system)
            await rig.live(30, system)
            #expect(await system.state(of: "new")?.card("nap")?.state == .confirmed)
            _ = try await system.put("nap", Rig.terms(["old"], count: 3))
            await rig.live(30, system)
            #expect(rig.pusher.sent(.update, to: "new").last?.text.contains(#"{"count":3}"#) == true)
            _ = try await system.stop("nap")
            await system.settle()
            #expect(rig.pusher.sent(.end, to: "new").count == 1 && rig.pusher.starts == 1)
        }
    }

    @Test func `stopped sessions are forgotten after a day and a half`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("d1", on: system)
            _ = try await system.put("nap", Rig.terms(["d1"]))
            _ = try await system.stop("nap")
            await rig.live(35 * 3600, system)
            _ = try await system.put("ride", Rig.terms(["d1"], id: "ride"))
            #expect(rig.store.session("nap") != nil)
            await rig.live(2 * 3600, system)
            _ = try await system.put("ride", Rig.terms(["d1"], id: "ride", count: 1))
            #expect(rig.store.session("nap") == nil && system.session("nap") == nil)
        }
    }
}
