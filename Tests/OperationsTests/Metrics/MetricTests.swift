import CardRules
import Foundation
import PushWire
import Testing

@testable import Lanes
@testable import Operations
@testable import PushPool

@Suite struct MetricTests {
    @Test func `metrics: a counter, a gauge and a histogram in Prometheus' words`() async {
        let registry = MetricRegistry()
        let counter = registry.counter("a_total", "Of \\ and\nlines.")
        counter.add(3)
        registry.gauge("b", "B.").set(-1.5)
        let histogram = registry.histogram("c_seconds", "C.", bounds: [0.1, 1], partsPerUnit: 1e9)
        for value in [0.05, 0.1, 0.5, 30, -3, .nan] { histogram.observe(value) }
        registry.add("d", "D.", .gauge) { [.value([("x", "\"\\\n")], .infinity)] }
        registry.add("nothing", "Left out.", .gauge) { [] }
        #expect(
            await registry.text() == """
                # HELP a_total Of \\\\ and\\nlines.
                # TYPE a_total counter
                a_total 3
                # HELP b B.
                # TYPE b gauge
                b -1.5
                # HELP c_seconds C.
                # TYPE c_seconds histogram
                c_seconds_bucket{le="0.1"} 4
                c_seconds_bucket{le="1"} 5
                c_seconds_bucket{le="+Inf"} 6
                c_seconds_sum 30.65
                c_seconds_count 6
                # HELP d D.
                # TYPE d gauge
                d{x="\\"\\\\\\n"} +Inf

                """)
    }

    @Test func `metrics: what counts at once on many threads is not lost`() async {
        let registry = MetricRegistry()
        let counter = registry.counter("a_total", "A.")
        let histogram = registry.histogram("b", "B.", bounds: [1], partsPerUnit: 1)
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.add()
                        histogram.observe(2)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(histogram.reading.counts == [0, 80_000] && histogram.reading.sum == 160_000)
    }

    @Test func `metrics: requests count under the program's own routes; what a client makes up makes no series`() async
    {
        let metrics = SystemMetrics(version: "1")
        for index in 0..<1000 {
            metrics.observe(route: nil, method: "METHOD\(index)", status: 200 + index % 400, seconds: nil)
        }
        for index in 0..<1000 { metrics.observe(route: "/r\(index)", method: "GET", status: 200, seconds: 0.2) }
        let text = await metrics.registry.text()
        let requests = text.split(separator: "\n").filter { $0.hasPrefix("lanekeeper_http_requests_total") }
        #expect(requests.count < 100, "\(requests.count)")
        #expect(text.contains(#"lanekeeper_http_requests_total{method="other",route="none",status="404"} "#))
        #expect(text.contains(#"lanekeeper_http_seconds_count{route="/r0"} 1"#))
    }

    @Test func `metrics: every metric of api.md is there with its labels, and promtool finds nothing to say`()
        async throws
    {
        let metrics = await Self.filled()
        let text = await metrics.registry.text()
        for expected in [
            #"lanekeeper_tick_seconds_bucket{stage="decided",le="0.001"}"#,
            #"lanekeeper_tick_seconds_count{stage="answered"}"#,
            #"lanekeeper_pushes_total{event="start",gateway="production",status="200",reason=""} "#,
            #"lanekeeper_pushes_total{event="end",gateway="sandbox",status="200",reason=""} 0"#,
            #"lanekeeper_cards{programme="session",state="starting"} 0"#,
            "lanekeeper_push_seconds_bucket", "lanekeeper_pushes_in_flight ", "lanekeeper_pushes_waiting ",
            #"lanekeeper_starts_withheld_total{rule="S5"} 1"#, #"lanekeeper_lanes{state="standing"} 7"#,
            #"lanekeeper_lane_restarts_total{cause="killed"} 1"#,
            #"lanekeeper_cards{programme="slate",state="confirmed"} 5"#,
            #"lanekeeper_reissues_total{outcome="accepted"} 1"#, "lanekeeper_timers_overdue_seconds 2.5",
            "lanekeeper_store_commit_seconds_count 1", "lanekeeper_store_commit_rows_sum 3",
            #"lanekeeper_apns_connections{gateway="sandbox",state="idle"} "#,
            #"lanekeeper_http_requests_total{method="PUT",route="/v1/devices/{device}",status="204"} 1"#,
            #"lanekeeper_http_seconds_sum{route="/v1/devices/{device}"} 0.002"#, "lanekeeper_lease_owned 64",
            #"lanekeeper_build_info{version="1.2.3"} 1"#,
        ] {
            #expect(text.contains("\n\(expected)"), "\(expected) is not in\n\(text)")
        }
        let article = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Sources/Operations/Operations.docc/MetricsGuide.md")
                .standardizedFileURL,
            encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("# TYPE lanekeeper_") {
            let name = line.dropFirst("# TYPE lanekeeper_".count).prefix { $0 != " " }
            #expect(article.contains("`\(name)`"), "the article does not speak of \(name)")
        }
        let complaints = try #require(try promtool(text), "Config/setup installs promtool")
        #expect(complaints == "")
    }

    /// Everything has happened once.
    private static func filled() async -> SystemMetrics {
        let metrics = SystemMetrics(version: "1.2.3")
        let clock = TestClock()
        metrics.watch(leasesOwned: { 64 })
        metrics.observe(route: "/v1/devices/{device}", method: "PUT", status: 204, seconds: 0.002)
        metrics.watch(pool: {
            var snapshot = PoolSnapshot()
            snapshot.count(.accepted, .start, .production)
            snapshot.count(.unknown, .update, .sandbox)
            return snapshot
        })
        metrics.watch(lanes: {
            var gauges = Gauges()
            gauges.lanes[.standing] = 7
            gauges.cards = [.init(programme: .slate, state: .confirmed): 5]
            gauges.timersOverdueSeconds = 2.5
            return gauges
        })
        guard let log = try? Log(level: .error, format: .json, isTerminal: false, clock: clock, output: { _ in }) else {
            return metrics
        }
        let trace = SystemTrace(log: log, metrics: metrics)
        let device = DeviceID(unchecked: "d")
        trace.record(
            .decided(device, TimelineEntry(at: clock.now, key: .slate, kind: .withheld, rule: .s5, detail: "")))
        trace.record(.reissued(.accepted))
        trace.record(.tickDecided(seconds: 0.0004))
        trace.record(.tickAnswered(seconds: 0.4))
        trace.record(.restarted(device, cause: .killed))
        trace.record(.committed(rows: 3, seconds: 0.001))
        await log.close()
        return metrics
    }

    /// - Returns: what `promtool check metrics` said; `nil` where there is none.
    private func promtool(_ text: String) throws -> String? {
        guard
            let path = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first(
                where: FileManager.default.isExecutableFile)
        else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["check", "metrics"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let words = String(decoding: said, as: UTF8.self)
        return process.terminationStatus == 0 ? words : "exit \(process.terminationStatus): \(words)"
    }
}
