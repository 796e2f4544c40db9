@testable import WebServer

/// A connection without a socket: what goes in, what was taken, what comes out.
struct PureConnection {
    var state: ConnectionState
    let handler: TestHandler
    var now: Int64 = 0
    /// A peer that reads everything at once.
    var output: [UInt8] = []
    var taken: [WebRequest] = []
    /// With those that were refused at their head and have no body.
    var seen: [WebRequest] = []
    var served: [WebServed] = []
    var readsAnswers = true
    let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)

    init(limits: WebLimits = WebLimits(), handler: TestHandler = TestHandler()) {
        state = ConnectionState(limits: limits, at: 0)
        self.handler = handler
    }

    /// The peer sees the end of what we send.
    private(set) var isFinished = false

    var answers: [ReadAnswer] { ReadAnswer.all(in: output, heads: heads).answers }
    var statuses: [Int] { answers.map(\.status) }
    var heads: Set<Int> = []

    mutating func feed(_ bytes: [UInt8]) {
        guard !state.isOver else { return }
        state.receive(bytes.span, at: now)
        turn()
    }

    mutating func finish() {
        state.receiveEnd()
        turn()
    }

    mutating func pass(seconds: Double) {
        now += Int64(seconds * 1e9)
        if let effect = state.sweep(at: now) { perform(effect) }
        turn()
    }

    mutating func answer(_ number: UInt64, _ answer: WebAnswer) {
        note(state.answer(number, answer, date: date, at: now))
        turn()
    }

    mutating func turn() {
        repeat {
            while let effect = state.next(at: now) { perform(effect) }
            if readsAnswers { read(.max) }
        } while readsAnswers && state.pendingBytes > 0
        if state.wantsFinish {
            isFinished = true
            state.finishedWriting(at: now)
        }
        if state.isOver { isFinished = true }
    }

    mutating func read(_ count: Int) {
        let count = min(count, state.pendingBytes)
        output += state.output[state.written..<state.written + count]
        if count > 0 { state.wrote(count) }
    }

    private mutating func perform(_ effect: ConnectionState.Effect) {
        switch effect {
        case .judge(let head):
            switch handler.admit(head) {
            case .bodyOf(let count): state.admit(maximumBytes: count, at: now)
            case .refused(let answer):
                if head.bodyLength == 0 { seen.append(WebRequest(head: head)) }
                note(state.refuse(answer, isFault: false, date: date, at: now))
            }
        case .take(let request, let number):
            taken.append(request)
            seen.append(request)
            switch request.head.path.first {
            case "park": break
            case "stream": note(state.openStream(number, [], date: date, at: now))
            case "v1": note(state.answer(number, WebAnswer(status: 204), date: date, at: now))
            case "big":
                let body = [UInt8](repeating: 0x78, count: 100_000)
                note(state.answer(number, WebAnswer(status: 200, body: body), date: date, at: now))
            default: note(state.answer(number, WebAnswer(status: 200, body: request.body), date: date, at: now))
            }
        case .fault(let fault):
            let answer = handler.refusal(status: fault.status, detail: fault.detail)
            note(state.refuse(answer, isFault: true, date: date, at: now))
        }
    }

    private mutating func note(_ served: WebServed?) { if let served { self.served.append(served) } }
}
