import CardRules
import Lanes
import Operations
import WebServer

/// The calls that anybody may make: liveness, readiness, metrics.
final class PublicCalls: ServedCalls {
    private let status: DaemonStatus
    private let metrics: SystemMetrics
    private let scrapes: AsyncStream<any WebExchange>
    private let scrape: AsyncStream<any WebExchange>.Continuation

    init(status: DaemonStatus, metrics: SystemMetrics) {
        self.status = status
        self.metrics = metrics
        // A scraper that does not wait is answered with the next one's text.
        (scrapes, scrape) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    func open() {}
    func close() {}

    func run() async {
        for await exchange in scrapes {
            let text = await metrics.registry.text()
            exchange.answer(
                WebAnswer(
                    status: 200, headers: [("Content-Type", MetricRegistry.contentType)], body: Array(text.utf8)))
        }
    }

    func admit(_ head: WebRequestHead) -> WebAdmission { .bodyOf(maximumBytes: 0) }

    func take(_ request: WebRequest, _ exchange: any WebExchange) {
        guard request.head.method == "GET" || request.head.method == "HEAD" else {
            var answer = refusal(status: 405, detail: "only GET and HEAD")
            answer.headers.add("Allow", "GET, HEAD")
            return exchange.answer(answer)
        }
        switch request.head.path {
        case ["healthz"]: exchange.answer(answer(200, ["status": .string("alive")]))
        case ["readyz"]:
            let obstacles = status.obstacles
            exchange.answer(
                obstacles.isEmpty
                    ? answer(200, ["status": .string("ready")])
                    : refusal(status: 503, detail: obstacles.joined(separator: "; ")))
        case ["metrics"]: scrape.yield(exchange)
        default: exchange.answer(refusal(status: 404, detail: "there is no such call"))
        }
    }

    func refusal(status: Int, detail: String) -> WebAnswer {
        var refusal = answer(
            status, ["title": .string(detail), "status": .integer(Int64(status)), "detail": .string(detail)])
        refusal.headers = [("Content-Type", "application/problem+json")]
        return refusal
    }

    private func answer(_ status: Int, _ members: [String: JSONValue]) -> WebAnswer {
        WebAnswer(
            status: status, headers: [("Content-Type", "application/json")],
            body: Array(jsonText(.object(members)).utf8))
    }
}
