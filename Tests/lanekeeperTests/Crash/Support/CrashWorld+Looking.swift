import CardRules
import Foundation
import Lanes
import Operations
import Simulation
import TLS
import Testing

@testable import Intake
@testable import lanekeeper

/// What tests ask of the world: the feed, and looks at phones and program.
extension CrashWorld {
    // MARK: - Waiting

    /// Looks until it is so. The patience is for loaded machines; nothing is concluded from how long it took.
    func until(
        _ what: String, patienceSeconds: Double = 90, _ condition: () async throws -> Bool
    ) async throws {
        let since = clock.uptime
        var looked = since
        while try await !condition() {
            let now = clock.uptime
            guard now.seconds(since: since) < patienceSeconds else {
                throw CrashFault("seed \(seed), after \(kills) kills: never came: \(what); \(standing)")
            }
            // Looking at thousands of phones takes its time from what is looked at.
            try await clock.sleep(until: clock.now.advanced(bySeconds: max(0.005, 3 * now.seconds(since: looked))))
            looked = clock.uptime
        }
    }

    private var standing: String {
        let pushes = Witness.Event.allCases.map { "\($0.rawValue) \(witness.accepted($0))" }.joined(separator: ", ")
        return
            "pushes accepted: \(pushes); cards \(cards); calls \(calls.counts); held \(line.heldBytes(.toServer)), \(line.heldBytes(.toProgram))"
    }

    // MARK: - Feed

    /// Announced, and out of the window until it is live (S11).
    static func game(_ name: String, at now: WallTime) -> SlateLine {
        var game = GamePatch(game: GameID(unchecked: name), at: now)
        game.sport = .value(.basketball)
        game.home = .value("Home \(name)")
        game.away = .value("Away \(name)")
        game.startsAt = .value(now.advanced(bySeconds: 3600))
        return .game(game)
    }

    static func score(_ name: String, _ home: Int, _ phase: Phase = .live, at now: WallTime) -> SlateLine {
        var score = ScorePatch(game: GameID(unchecked: name), at: now)
        score.home = .value(home)
        score.away = .value(1)
        score.period = .value(1)
        score.clock = .value("10:00")
        score.phase = .value(phase)
        return .score(score)
    }

    /// Posts as a feed does: the same again until it is answered 2xx, to whichever program there is.
    func post(_ lines: [SlateLine]) async throws {
        try await until("a tick was taken") {
            guard let api else { return false }
            guard case .success(let answer) = await api.answer(to: .ticks(lines), as: .feed) else { return false }
            return answer.status == 200
        }
    }

    func post(_ make: (WallTime) -> [SlateLine]) async throws { try await post(make(clock.now)) }

    // MARK: - Program

    /// What the program says of a device; `nil`: it does not answer, or not with 200.
    func view(_ device: DeviceID) async -> JSONValue? {
        guard let api,
            case .success(let answer) = await api.answer(
                to: ClientRequest("GET", "/v1/devices/\(device.text)", timeoutSeconds: 30), as: .demo),
            answer.status == 200
        else { return nil }
        return try? JSONDocument(answer.body).root
    }

    /// The states of its cards, as section 1 of the rules has them.
    func states(_ device: DeviceID) async -> [String] {
        await view(device)?["cards"]?.items.compactMap { $0["state"]?.text } ?? []
    }

    /// What the store has of its decisions: each with its kind.
    func kept(_ device: DeviceID) async -> [String] {
        guard let api,
            case .success(let answer) = await api.answer(
                to: ClientRequest("GET", "/v1/devices/\(device.text)/timeline?limit=200", timeoutSeconds: 5), as: .demo),
            answer.status == 200
        else { return [] }
        return (try? JSONDocument(answer.body).root)?["entries"]?.items.compactMap { $0["kind"]?.text } ?? []
    }

    /// Calls as an app does: the same again until it is answered 2xx, by whichever program there is.
    func call(_ method: String, _ path: String, _ body: String = "", as caller: DemoAccess.Caller = .demo) async throws
    {
        try await until("\(method) \(path) was answered") {
            guard let api else { return false }
            let request =
                body.isEmpty ? ClientRequest(method, path, body: []) : .json(method, path, Array(body.utf8))
            guard case .success(let answer) = await api.answer(to: request, as: caller) else { return false }
            return (200..<300).contains(answer.status)
        }
    }

    /// The status of one call, answered or not; `nil`: it was not.
    func once(_ method: String, _ path: String, _ body: String) async -> Int? {
        guard let api,
            case .success(let answer) = await api.answer(to: .json(method, path, Array(body.utf8)), as: .demo)
        else { return nil }
        return answer.status
    }

    /// What `readyz` says; `nil`: nothing.
    func isReady() async -> Bool? { await readiness().map { $0.status == 200 } }

    /// The same, in its own words.
    func whyNotReady() async -> String { await readiness().map { String(decoding: $0.body, as: UTF8.self) } ?? "" }

    private func readiness() async -> ClientResponse? {
        guard let api, case .success(let answer) = await api.answer(to: ClientRequest("GET", "/readyz"), as: .demo)
        else { return nil }
        return answer
    }

    /// The running program reads what `tune` has written.
    func reload() async throws {
        guard let daemon else { return }
        daemon.send(SIGHUP)
        guard await daemon.logged("was read again") != nil else { throw CrashFault("it did not read again") }
    }

    // MARK: - Phones

    /// Cards alive on all phones.
    var cards: Int { fleet.withJudge { [clock] in $0.report(at: clock.now).standing } }

    /// Starts that became cards, ever.
    var startsShown: Int { fleet.withJudge { [clock] in $0.report(at: clock.now).tally.startedByPush } }

    func starts(ofPhone number: Int) -> [PhoneCard] { fleet.phone(number).cards.filter { $0.startedBy == .push } }

    /// Whether all cards that stand, and that the server can reach, show this.
    func allShow(_ home: Int) -> Bool {
        (0..<fleet.count).allSatisfy { number in
            alive(onPhone: number).allSatisfy { card in
                card.updateToken == nil || card.content.games.allSatisfy { $0.homeScore == home }
            }
        }
    }

    func alive(onPhone number: Int) -> [PhoneCard] { fleet.phone(number).cards.filter(\.isAlive) }

    /// Registrations that were answered and are not in the program's hands: what the phone believes held against what the
    /// program says. To be asked when nothing is under way.
    func lostRegistrations() async throws -> [String] {
        let phones = (0..<fleet.count).map { fleet.phone($0) }
        let views = try await withThrowingTaskGroup(of: (Int, JSONValue?).self) { group in
            for (place, phone) in phones.enumerated() { group.addTask { (place, await self.view(phone.device)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var lost: [String] = []
        for (place, phone) in phones.enumerated() {
            let view = views[place] ?? nil
            let token = view?["pushToStart"]?["token"]?.text
            let games = view?["selection"]?["games"]?.items.compactMap(\.text)
            if token != phone.pushToStart.map(fingerprint(of:)) || games != phone.choice?.games.map(\.text)
                || view?["user"]?.text != phone.profile.user
            {
                lost.append("\(phone.device): token \(token ?? "none"), games \(games ?? [])")
            }
        }
        return lost
    }
}

extension JSONValue {
    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }
}
