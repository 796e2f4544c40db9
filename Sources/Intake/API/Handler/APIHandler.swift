public import CardRules
public import Lanes
internal import Synchronization
public import WebServer

/// The HTTP interface of the daemon (api.md), as the web server calls it.
///
/// Nothing here blocks. What needs no more than a lane's answer is handed to the lanes on the server's own thread; the
/// rest is carried out by `run()`, ticks one after the other in their order of arrival. Each kind of waiting has a bound
/// (`APIConfiguration`) and an answer at the bound.
///
/// Life: made closed (all but the public calls are answered 503); `open()` when the lanes are there; `close()` when the
/// daemon begins to stop; `run()` lasts until its task is cancelled.
public final class APIHandler: WebHandler {
    let configuration: APIConfiguration
    let keys: APIKeys
    let supervisor: Supervisor
    let timeline: any TimelineSource
    let backend: any APIBackend
    let zones: ZoneDirectory
    let clock: any WallClock
    let table = RouteTable(routes: Route.all)
    let openAPI: [UInt8]
    let events: EventHub
    private let console: (any WebHandler)?
    private let stage = Mutex(Stage.closed("the daemon is starting"))

    /// Requests that wait for the lanes or for `run()`.
    private let room: WaitingRoom
    /// Public calls wait for nobody.
    private let publicRoom = WaitingRoom(limit: .max)
    private let tickRoom: WaitingRoom
    private let ticks: AsyncStream<ParkedRequest>
    private let tickQueue: AsyncStream<ParkedRequest>.Continuation
    private let jobs: AsyncStream<ParkedRequest>
    private let jobQueue: AsyncStream<ParkedRequest>.Continuation

    private enum Stage: Sendable {
        case open
        case closed(String)
    }

    /// - Parameters:
    ///   - console: answers GET and HEAD outside `/v1` that are no calls of the API; `nil`: they are 404.
    public convenience init(
        _ configuration: APIConfiguration, keys: APIKeys, supervisor: Supervisor, backend: any APIBackend,
        zones: ZoneDirectory, clock: any WallClock, console: (any WebHandler)? = nil
    ) {
        self.init(
            configuration, keys: keys, supervisor: supervisor, timeline: supervisor, backend: backend, zones: zones,
            clock: clock, console: console)
    }

    init(
        _ configuration: APIConfiguration, keys: APIKeys, supervisor: Supervisor, timeline: any TimelineSource,
        backend: any APIBackend, zones: ZoneDirectory, clock: any WallClock, console: (any WebHandler)? = nil
    ) {
        self.configuration = configuration
        self.keys = keys
        self.supervisor = supervisor
        self.timeline = timeline
        self.backend = backend
        self.zones = zones
        self.clock = clock
        self.console = console
        openAPI = OpenAPIDocument.bytes(table.routes, version: configuration.version)
        events = EventHub(limit: configuration.eventStreams, source: timeline, clock: clock)
        room = WaitingRoom(limit: configuration.requestsWaiting)
        tickRoom = WaitingRoom(limit: configuration.tickBatchesWaiting)
        (ticks, tickQueue) = AsyncStream.makeStream()
        (jobs, jobQueue) = AsyncStream.makeStream()
    }

    // MARK: - Life

    /// From now on calls are taken.
    public func open() { stage.withLock { $0 = .open } }

    /// From now on no call is taken: 503. What waits is still answered.
    public func close(because detail: String = "the daemon is stopping") { stage.withLock { $0 = .closed(detail) } }

    /// Carries out what waits, until the task is cancelled. What is left then is answered 503.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await request in self.ticks { await self.tick(request) } }
            group.addTask { await self.events.run() }
            for await request in jobs { group.addTask { await self.carryOut(request) } }
        }
        tickQueue.finish()
        jobQueue.finish()
    }

    // MARK: - WebHandler

    public func admit(_ head: WebRequestHead) -> WebAdmission {
        if let console, isForConsole(head) { return console.admit(head) }
        do throws(Problem) {
            let admitted = try judge(head)
            let isEmpty = admitted.match.route.body == nil
            return .bodyOf(maximumBytes: isEmpty ? 0 : configuration.maximumBodyBytes)
        } catch {
            return .refused(error.answer)
        }
    }

    public func take(_ request: WebRequest, _ exchange: any WebExchange) {
        if let console, isForConsole(request.head) { return console.take(request, exchange) }
        do throws(Problem) {
            let admitted = try judge(request.head)
            let place = admitted.match.route.scope == nil ? publicRoom : room
            guard place.enter() else {
                throw .tryAgain("\(configuration.requestsWaiting) requests are waiting, and no more may")
            }
            begin(
                ParkedRequest(request, admitted.match, query: admitted.query, exchange, room: place))
        } catch {
            exchange.answer(error.answer)
        }
    }

    public func refusal(status: Int, detail: String) -> WebAnswer {
        (status == 503 ? .tryAgain(detail) : Problem(status, detail)).answer
    }

    private func isForConsole(_ head: WebRequestHead) -> Bool {
        guard head.method == "GET" || head.method == "HEAD", head.path.first != "v1" else { return false }
        if case .unknownPath = table.find(head) { return true }
        return false
    }

    /// Throws 503 while no calls are taken.
    func mustBeOpen() throws(Problem) {
        if case .closed(let detail) = stage.withLock({ $0 }) { throw .tryAgain(detail) }
    }

    // MARK: - Ways to an answer

    private func begin(_ request: ParkedRequest) {
        switch request.match.route.call {
        case .getHealth: request.answer(json: JSONBuilder.object { $0.member("status", "alive") })
        case .getReadiness: request.answerReadiness(backend.readiness)
        case .getOpenAPI: request.answer(json: openAPI)
        case .deleteDevice: submit(request)
        case .putDevice, .putSelection, .putCard, .postReport:
            // A large body is read where it holds up nobody.
            if request.body.count <= APIHandler.smallBodyBytes { submit(request) } else { enqueue(request) }
        case .postTicks:
            guard tickRoom.enter() else {
                return request.answer(
                    .tryAgain("\(configuration.tickBatchesWaiting) batches are waiting, and no more may", status: 429))
            }
            if case .terminated = tickQueue.yield(request) { tickRoom.leave() }
        case .getDevice, .getTimeline, .putSession, .deleteSession, .getSlate, .getEvents, .postMoment, .postProbe,
            .pauseGateway, .resumeGateway, .getMetrics:
            enqueue(request)
        }
    }

    private static let smallBodyBytes = 16_384

    private func enqueue(_ request: ParkedRequest) {
        // One that comes when nobody works any more is dropped here, and so answered.
        jobQueue.yield(request)
    }

    private func tick(_ request: ParkedRequest) async {
        await takeTicks(request)
        tickRoom.leave()
    }

    private func carryOut(_ request: ParkedRequest) async {
        switch request.match.route.call {
        case .putDevice, .putSelection, .putCard, .postReport, .deleteDevice: submit(request)
        case .getDevice: await answerDevice(request)
        case .getTimeline: await answerTimeline(request)
        case .putSession: await putSession(request)
        case .deleteSession: await stopSession(request)
        case .getSlate: await answerSlate(request)
        case .getEvents: await beginEvents(request)
        case .postMoment: await makeUpMoment(request)
        case .postProbe: await beginProbe(request)
        case .pauseGateway: await pause(request)
        case .resumeGateway: await resume(request)
        case .getMetrics: await answerMetrics(request)
        case .postTicks, .getHealth, .getReadiness, .getOpenAPI: break
        }
    }
}

/// The bounds and facts that the API is given.
public struct APIConfiguration: Sendable {
    /// The apps served. With more than one, a device's registration must name its own.
    public var apps: [AppID]
    /// Of any body.
    public var maximumBodyBytes: Int
    /// Requests that may wait for their answer at once; another is answered 503.
    public var requestsWaiting: Int
    /// Batches of ticks that may wait for the one before them; another is answered 429.
    public var tickBatchesWaiting: Int
    /// Event streams at once; another is answered 503.
    public var eventStreams: Int
    /// Of the program, for `/openapi.json`.
    public var version: String

    public init(
        apps: [AppID], maximumBodyBytes: Int = 1_048_576, requestsWaiting: Int = 10_000,
        tickBatchesWaiting: Int = 64, eventStreams: Int = 256, version: String = "1"
    ) {
        self.apps = apps
        self.maximumBodyBytes = maximumBodyBytes
        self.requestsWaiting = requestsWaiting
        self.tickBatchesWaiting = tickBatchesWaiting
        self.eventStreams = eventStreams
        self.version = version
    }
}
