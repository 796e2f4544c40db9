import Lanes
import Synchronization
import TLS
import WebServer

@testable import Intake

/// How a test reaches the API.
enum Way: String, CaseIterable, Sendable {
    case memory
    /// Through the web server, on loopback.
    case socket
}

/// Makes one call over a socket of its own, on a thread of its own, and gives what comes to a waiter.
struct SocketCaller: Sendable {
    let address: SocketAddress

    func call(
        _ method: String, target: String, headers: [(name: String, value: String)], body: [UInt8], length: Int,
        _ waiter: Waiter
    ) {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for header in headers { head += "\(header.name): \(header.value)\r\n" }
        if length > 0 || !["GET", "HEAD", "DELETE"].contains(method) { head += "Content-Length: \(length)\r\n" }
        let bytes = Array((head + "\r\n").utf8) + body
        do {
            _ = try LoopThread(name: "caller") { [address] in
                do {
                    waiter.give(try exchange(bytes, with: address, isHead: method == "HEAD"))
                } catch {
                    waiter.give(Answered(WebAnswer(status: 0, body: Array("\(error)".utf8))))
                }
            }
        } catch {
            waiter.give(Answered(WebAnswer(status: 0, body: Array("\(error)".utf8))))
        }
    }
}

private struct NoAnswer: Error {}

/// Writes a request and reads until its answer is whole; of a stream, until its head is.
private func exchange(_ request: [UInt8], with address: SocketAddress, isHead: Bool) throws -> Answered {
    let socket = try Socket.connect(to: address)
    let epoll = try Epoll(eventsPerWait: 1)
    var events: [Epoll.Event] = []
    try epoll.add(socket.descriptor, .write, token: 0)
    try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
    try socket.checkConnected()
    var sent = 0
    while sent < request.count {
        if case .bytes(let count) = try socket.write(request.span.extracting(sent...)) {
            sent += count
        } else {
            try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
        }
    }
    try epoll.modify(socket.descriptor, .read, token: 0)
    var received: [UInt8] = []
    var scratch = [UInt8](repeating: 0, count: 65_536)
    while true {
        if let answer = whole(received, isHead: isHead) { return answer }
        var span = scratch.mutableSpan
        switch try socket.read(into: &span) {
        case .bytes(let count): received += scratch[..<count]
        case .closed: throw NoAnswer()
        case .wantsRead, .wantsWrite:
            try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
            if events.isEmpty { throw NoAnswer() }
        }
    }
}

private func whole(_ bytes: [UInt8], isHead: Bool) -> Answered? {
    let blank = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: blank) }) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
    var headers = WebHeaders()
    for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        headers.add(String(parts[0]), parts.count < 2 ? "" : String(parts[1].drop { $0 == " " }))
    }
    let body = Array(bytes[(end + 4)...])
    let isStream = headers["Content-Type"] == "text/event-stream"
    let length = isHead || isStream ? 0 : headers["Content-Length"].flatMap { Int($0) } ?? 0
    guard body.count >= length else { return nil }
    return Answered(WebAnswer(status: status, headers: headers, body: Array(body.prefix(length))), wasRead: false)
}
