internal import CardRules
internal import Lanes

extension APIHandler {
    /// One batch of ticks. What is usable counts, whatever stands beside it (api.md).
    func takeTicks(_ request: ParkedRequest) async {
        let text: SlateText
        do throws(SlateTextFault) {
            text = try SlateText(request.body.span)
        } catch {
            if case .noUsableLine(let rejected, let count) = error {
                request.answer(.noTick("\(error)", RejectedLines(rejected, count: count)))
            }
            return
        }
        do throws(StoreError) {
            let changes = try await supervisor.tick(text.lines.map(\.line))
            var rejected = RejectedLines(text.rejected, count: text.rejectedCount)
            for (line, change) in zip(text.lines, changes) {
                if case .refused(let why) = change { rejected.add(line.number, why.words) }
            }
            let accepted = text.lines.count - rejected.refusedLater
            guard accepted > 0 else { return request.answer(.noTick("no line can be used as the slate is", rejected)) }
            request.answer(
                json: JSONBuilder.object { json in
                    json.member("accepted", accepted)
                    rejected.write(&json)
                })
        } catch {
            request.answer(.tryAgain("the store cannot write now"))
        }
    }

    func answerSlate(_ request: ParkedRequest) async {
        let reading = await supervisor.ranking
        request.answer(json: JSONBuilder.object { json in reading.write(&json) })
    }
}

/// Lines that were not usable, for the answer: told one by one up to a bound.
private struct RejectedLines {
    private var told: [(line: Int, detail: String)]
    private var count: Int
    /// Of those that could be read.
    private(set) var refusedLater = 0

    init(_ rejected: [SlateText.Rejected], count: Int) {
        told = rejected.map { ($0.number, "\($0.fault)") }
        self.count = count
    }

    mutating func add(_ line: Int, _ detail: String) {
        refusedLater += 1
        count += 1
        if told.count < SlateText.maximumRejected { told.append((line, detail)) }
    }

    func write(_ json: inout JSONBuilder) {
        json.array("rejected", rows) { json, row in
            json.object {
                $0.member("line", row.line)
                $0.member("detail", row.detail)
            }
        }
    }

    var json: JSONValue {
        .array(rows.map { .object(["line": .integer(Int64($0.line)), "detail": .string($0.detail)]) })
    }

    /// In the order of the lines; the last says how many it does not tell.
    private var rows: [(line: Int, detail: String)] {
        var rows = told.sorted { $0.line < $1.line }
        if let last = rows.last, count > rows.count {
            rows[rows.count - 1].detail = "\(last.detail) (\(count - rows.count) more lines are not told)"
        }
        return rows
    }
}

extension Problem {
    fileprivate static func noTick(_ detail: String, _ rejected: RejectedLines) -> Problem {
        var problem = Problem(400, detail)
        problem.extra = [("rejected", rejected.json)]
        return problem
    }
}
