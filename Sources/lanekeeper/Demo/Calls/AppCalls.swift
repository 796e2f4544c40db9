import CardRules
import Intake
import Lanes
import Simulation
import Synchronization

/// What the apps of a fleet tell the server, as apps do: each phone one call after the other, in order, and what the
/// server could not take now, or never answered, again later. Outlives the server. From any thread.
final class AppCalls: Sendable {
    private let fleet: PhoneFleet
    private let clock: any WallClock
    private let zones = ZoneDirectory()
    private let state = Mutex(State())

    private struct State {
        var api: DemoAPI?
        /// Calls to a server that is gone are answered to nobody.
        var generation = 0
        var phones: [Int: Line] = [:]
        /// Phones whose first call waits for a time.
        var retries: [Int: WallTime] = [:]
        var counts = Counts()
    }

    /// The calls of one phone, the first one under way or to be repeated.
    private struct Line {
        var waiting: [PhoneReport]
        var failures = 0
    }

    struct Counts: Hashable, Sendable {
        var answered = 0
        /// Tried again later.
        var repeated = 0
        /// The server will never take them.
        var refused = 0
        /// More waited than an app keeps.
        var dropped = 0
    }

    /// What an app keeps for a server that it cannot reach; of more the oldest is dropped.
    static let keptAtMost = 100

    init(fleet: PhoneFleet, clock: any WallClock) { (self.fleet, self.clock) = (fleet, clock) }

    var counts: Counts { state.withLock { $0.counts } }

    /// Every call that was taken has its answer.
    var isIdle: Bool { state.withLock { $0.phones.isEmpty } }

    /// When a call is to be repeated next.
    var nextRetry: WallTime? { state.withLock { $0.retries.values.min() } }

    /// Another server, or the first: what was not answered goes there.
    func connect(to api: DemoAPI) {
        let (generation, first) = state.withLock { state in
            state.api = api
            state.generation += 1
            state.retries = [:]
            return (state.generation, state.phones.sorted { $0.key < $1.key }.compactMap(\.value.waiting.first))
        }
        for report in first { send(report, to: api, generation) }
    }

    /// An app reports.
    func take(_ report: PhoneReport) {
        let (api, generation) = state.withLock { state -> (DemoAPI?, Int) in
            guard var line = state.phones[report.phone] else {
                state.phones[report.phone] = Line(waiting: [report])
                return (state.api, state.generation)
            }
            line.waiting.append(report)
            if line.waiting.count > AppCalls.keptAtMost {
                line.waiting.remove(at: 1)  // the first one may be under way
                state.counts.dropped += 1
            }
            state.phones[report.phone] = line
            return (nil, 0)
        }
        if let api { send(report, to: api, generation) }
    }

    /// Repeats what is due now.
    func passTime() {
        let now = clock.now
        let (api, generation, due) = state.withLock { state -> (DemoAPI?, Int, [PhoneReport]) in
            let due = state.retries.filter { $0.value <= now }.keys.sorted()
            for phone in due { state.retries[phone] = nil }
            return (state.api, state.generation, due.compactMap { state.phones[$0]?.waiting.first })
        }
        guard let api else { return }
        for report in due { send(report, to: api, generation) }
    }

    private func send(_ report: PhoneReport, to api: DemoAPI, _ generation: Int) {
        api.send(ClientRequest(report, zones: zones), as: .phones) { [self] answer in
            settle(report, answer, api, generation)
        }
    }

    private func settle(
        _ report: PhoneReport, _ answer: Result<ClientResponse, ClientError>, _ api: DemoAPI, _ generation: Int
    ) {
        let now = clock.now
        let (next, isAnswered) = state.withLock { state -> (PhoneReport?, Bool) in
            guard generation == state.generation, var line = state.phones[report.phone] else { return (nil, false) }
            switch CallOutcome(answer, failures: line.failures) {
            case .done: state.counts.answered += 1
            case .refused: state.counts.refused += 1
            case .again(let seconds):
                line.failures += 1
                state.phones[report.phone] = line
                state.retries[report.phone] = now.advanced(bySeconds: seconds)
                state.counts.repeated += 1
                return (nil, false)
            }
            line.waiting.removeFirst()
            line.failures = 0
            state.phones[report.phone] = line.waiting.isEmpty ? nil : line
            return (line.waiting.first, true)
        }
        if isAnswered, asksForToken(answer) { fleet.serverAsksForToken(after: report, at: now) }
        if let next { send(next, to: api, generation) }
    }

    private func asksForToken(_ answer: Result<ClientResponse, ClientError>) -> Bool {
        guard case .success(let response) = answer else { return false }
        return response.header(PushToStartReader.needsHeader) == PushToStartReader.needsToken
    }
}
