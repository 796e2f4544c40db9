internal import TLS

extension ServerLoop {
    mutating func obey(_ message: LoopMessage) {
        switch message {
        case .adopt(let handed): if let socket = handed.take() { adopt(socket, isTurnedAway: false) }
        case .answer(let token, let number, let answer): give(answer, to: number, of: token)
        case .dropped(let token, let number):
            guard let connection = connections[token], connection.state.isParked(number) else { return }
            give(shared.handler.refusal(status: 500, detail: "The request was not answered."), to: number, of: token)
        case .openStream(let token, let number, let headers, let account):
            open(account, headers, for: number, of: token)
        case .bytes(let token, let number, let bytes):
            guard let connection = connections[token] else { return }
            touch(connection)
            _ = connection.state.send(bytes, on: number, at: now)
            connection.stream?.note(taken: bytes.count, pending: connection.state.pendingBytes)
        case .closeStream(let token, let number, let reason): close(number, of: token, reason)
        case .sweep: sweep()
        case .stop: stop()
        }
    }

    private mutating func give(_ answer: WebAnswer, to number: UInt64, of token: UInt64) {
        guard let connection = connections[token],
            let served = connection.state.answer(number, answer, date: date, at: now)
        else { return }
        touch(connection)
        report(served)
        advance(connection)
    }

    private mutating func open(
        _ account: StreamAccount, _ headers: WebHeaders, for number: UInt64, of token: UInt64
    ) {
        guard let connection = connections[token],
            let served = connection.state.openStream(number, headers, date: date, at: now)
        else { return account.end(.peerGone) }
        shared.tally.streams.increase()
        connection.stream = account
        touch(connection)
        report(served)
        guard isStopping else { return }
        connection.state.closeStream(number, at: now)
        finish(account, of: connection, .stopping)
    }

    private mutating func close(_ number: UInt64, of token: UInt64, _ reason: WebStreamEnd) {
        guard let connection = connections[token], let stream = connection.stream, connection.state.number == number
        else { return }
        touch(connection)
        if reason == .tooSlow {
            connection.state.lose()
        } else {
            connection.state.closeStream(number, at: now)
        }
        finish(stream, of: connection, reason)
    }
}
