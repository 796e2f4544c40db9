public import Lanes
internal import Synchronization
public import WebServer

/// Counts and times what a handler answers, what it refuses at the head included.
public final class MeasuredHandler: WebHandler {
    private let handler: any WebHandler
    private let metrics: SystemMetrics
    private let clock: any SteadyClock

    public init(_ handler: any WebHandler, metrics: SystemMetrics, clock: any SteadyClock) {
        self.handler = handler
        self.metrics = metrics
        self.clock = clock
    }

    public func admit(_ head: WebRequestHead) -> WebAdmission {
        let admission = handler.admit(head)
        if case .refused(let answer) = admission { count(head.method, answer.status) }
        return admission
    }

    public func take(_ request: WebRequest, _ exchange: any WebExchange) {
        handler.take(
            request, MeasuredExchange(exchange, method: request.head.method, began: clock.uptime, by: self))
    }

    public func refusal(status: Int, detail: String) -> WebAnswer {
        count("other", status)
        return handler.refusal(status: status, detail: detail)
    }

    private func count(_ method: String, _ status: Int) {
        metrics.requests[SystemMetrics.RequestKind(method: method, status: status)]?.add()
    }

    fileprivate func note(_ method: String, _ status: Int, since began: SteadyTime) {
        let kind = SystemMetrics.RequestKind(method: method, status: status)
        metrics.requests[kind]?.add()
        metrics.requestSeconds[kind.method]?.observe(clock.uptime.seconds(since: began))
    }
}

/// Passes one exchange on, and notes its first answer.
private final class MeasuredExchange: WebExchange {
    private let exchange: any WebExchange
    private let method: String
    private let began: SteadyTime
    private let owner: MeasuredHandler
    private let isNoted = Atomic<Bool>(false)

    init(_ exchange: any WebExchange, method: String, began: SteadyTime, by owner: MeasuredHandler) {
        (self.exchange, self.method, self.began, self.owner) = (exchange, method, began, owner)
    }

    func answer(_ answer: WebAnswer) {
        note(answer.status)
        exchange.answer(answer)
    }

    func stream(_ headers: WebHeaders, closed: @escaping @Sendable () -> Void) -> (any WebStream)? {
        note(200)
        return exchange.stream(headers, closed: closed)
    }

    private func note(_ status: Int) {
        if !isNoted.exchange(true, ordering: .relaxed) { owner.note(method, status, since: began) }
    }
}
