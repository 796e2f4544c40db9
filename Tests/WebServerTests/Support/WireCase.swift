/// Bytes that a peer may send, and what a strict server makes of them: measured-store's table of odd requests.
import Testing

struct WireCase: Sendable, CustomTestStringConvertible {
    enum Ending: Sendable {
        /// The connection stays open.
        case kept
        case closed
        /// Nothing happens until the request's time is up: then 408 and closed.
        case waits
    }

    let name: String
    let bytes: [UInt8]
    /// Interim answers included.
    let statuses: [Int]
    let ending: Ending
    var isHalfClosed = false

    var testDescription: String { name }

    init(_ name: String, _ text: String, _ statuses: [Int], _ ending: Ending, isHalfClosed: Bool = false) {
        self.init(name, bytes: Array(text.utf8), statuses, ending, isHalfClosed: isHalfClosed)
    }

    init(_ name: String, bytes: [UInt8], _ statuses: [Int], _ ending: Ending, isHalfClosed: Bool = false) {
        self.name = name
        self.bytes = bytes
        self.statuses = statuses
        self.ending = ending
        self.isHalfClosed = isHalfClosed
    }

    /// A PUT with these fields and this body.
    static func put(_ fields: String, _ body: String = "", target: String = "/v1/devices/d1") -> String {
        "PUT \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\(body)"
    }

    static let chunked = "Transfer-Encoding: chunked\r\n"
    static let simple = put("Content-Length: 2\r\n", "{}")

    static let all: [WireCase] = framing + heads + targets + sizes + chunks + lives
}

extension WireCase {
    static let framing: [WireCase] = [
        WireCase("length and chunked", put("Content-Length: 2\r\n" + chunked, "2\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("chunked and length", put(chunked + "Content-Length: 2\r\n", "2\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("two different lengths", put("Content-Length: 2\r\nContent-Length: 3\r\n", "{} "), [400], .closed),
        WireCase("two equal lengths", put("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), [400], .closed),
        WireCase("gzip, chunked", put("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), [501], .closed),
        WireCase("xchunked", put("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), [501], .closed),
        WireCase("chunked, identity", put("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), [501], .closed),
        WireCase("chunked twice", put(chunked + chunked, "0\r\n\r\n"), [501], .closed),
        WireCase("length +2", put("Content-Length: +2\r\n", "{}"), [400], .closed),
        WireCase("length -1", put("Content-Length: -1\r\n"), [400], .closed),
        WireCase("length 2^64+2", put("Content-Length: 18446744073709551618\r\n", "{}"), [400], .closed),
        WireCase("length 2, 2", put("Content-Length: 2, 2\r\n", "{}"), [400], .closed),
        WireCase("length 0x2", put("Content-Length: 0x2\r\n", "{}"), [400], .closed),
        WireCase("length empty", put("Content-Length:\r\n"), [400], .closed),
        WireCase("chunked in HTTP/1.0", "PUT /v1/d HTTP/1.0\r\n\(chunked)\r\n0\r\n\r\n", [400], .closed),
        WireCase("a body with GET", "GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", [200], .kept),
    ]

    static let heads: [WireCase] = [
        WireCase("space before the colon", put("X : 1\r\n"), [400], .closed),
        WireCase("tab before the colon", put("X\t: 1\r\n"), [400], .closed),
        WireCase("folded line", put("X: 1\r\n 2\r\n"), [400], .closed),
        WireCase("first field folded", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", [400], .closed),
        WireCase("NUL in a value", put("X: a\0b\r\n"), [400], .closed),
        WireCase("bare CR in a value", put("X: a\rb\r\n"), [400], .closed),
        WireCase("bare LF in a value", put("X: a\nContent-Length: 5\r\n"), [400], .closed),
        WireCase("DEL in a value", put("X: a\u{7f}\r\n"), [400], .closed),
        WireCase("no name", put(": 1\r\n"), [400], .closed),
        WireCase("no colon", put("X\r\n"), [400], .closed),
        WireCase("no Host", "GET /v1 HTTP/1.1\r\n\r\n", [400], .closed),
        WireCase("two Hosts", put("Host: x\r\n"), [400], .closed),
        WireCase("a Host with a path", "GET /v1 HTTP/1.1\r\nHost: x/y\r\n\r\n", [400], .closed),
        WireCase("a Host with a user", "GET /v1 HTTP/1.1\r\nHost: a@x\r\n\r\n", [400], .closed),
        WireCase("a Host of numbers", "GET /v1 HTTP/1.1\r\nHost: [::1]:8480\r\n\r\n", [204], .kept),
        WireCase("bare LF line ends", "GET /v1 HTTP/1.1\nHost: x\n\n", [], .waits),
        WireCase("HTTP/1.0", "GET /v1 HTTP/1.0\r\n\r\n", [204], .closed),
        WireCase("HTTP/1.0, keep-alive", "GET /v1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [204], .closed),
        WireCase("HTTP/1.9", "GET /v1 HTTP/1.9\r\nHost: x\r\n\r\n", [204], .kept),
        WireCase("HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505], .closed),
        WireCase("HTTP/3.0", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", [505], .closed),
        WireCase("HTTP/1.10", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", [400], .closed),
        WireCase("http/1.1", "GET / http/1.1\r\nHost: x\r\n\r\n", [400], .closed),
        WireCase("HTTP/0.9", "GET /\r\n\r\n", [400], .closed),
        WireCase("two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", [400], .closed),
        WireCase("no method", " / HTTP/1.1\r\nHost: x\r\n\r\n", [400], .closed),
        WireCase("a method with a colon", "GE:T / HTTP/1.1\r\nHost: x\r\n\r\n", [400], .closed),
        WireCase("CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", [400], .closed),
        WireCase("one empty line first", "\r\n" + simple, [204], .kept),
        WireCase("two empty lines first", "\r\n\r\n" + simple, [400], .closed),
        WireCase(
            "TLS on a plain port", bytes: [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 13, 10, 13, 10], [400], .closed),
        WireCase("Connection: close", put("Connection: x, Close\r\n"), [204], .closed),
        WireCase("an expectation that nobody has", put("Expect: tea\r\n"), [417], .closed),
    ]

    static let targets: [WireCase] = [
        WireCase("space in the target", put("", target: "/v1/a b"), [400], .closed),
        WireCase("%00", put("", target: "/v1/%00"), [400], .closed),
        WireCase("an escape cut short", put("", target: "/v1/%4"), [400], .closed),
        WireCase("an escape of no digits", put("", target: "/v1/%zz"), [400], .closed),
        WireCase("an escape that is no UTF-8", put("", target: "/v1/%ff"), [400], .closed),
        WireCase("bytes above ASCII", put("", target: "/v1/é"), [400], .closed),
        WireCase("a fragment", put("", target: "/v1#a"), [400], .closed),
        WireCase("a quote", put("", target: "/v1/\""), [400], .closed),
        WireCase("escaped letters", put("", target: "/%76%31/devices/d1"), [204], .kept),
        WireCase("absolute form", put("", target: "http://other:80/v1/d"), [204], .kept),
        WireCase("absolute form with a user", put("", target: "http://a@other/v1/d"), [400], .closed),
        WireCase("another scheme", put("", target: "ftp://other/v1/d"), [400], .closed),
        WireCase("no slash", put("", target: "v1"), [400], .closed),
        WireCase("a star for PUT", put("", target: "*"), [400], .closed),
        WireCase("a query", put("", target: "/v1?a=/?%20&b&&c=d=e"), [204], .kept),
    ]

    static let sizes: [WireCase] = [
        WireCase("64 KB of one field", put("X: \(String(repeating: "a", count: 65_536))\r\n"), [431], .closed),
        WireCase("64 KB of target", put("", target: "/v1/\(String(repeating: "a", count: 65_536))"), [414], .closed),
        WireCase("10 KB of target", put("", target: "/v1/\(String(repeating: "a", count: 10_000))"), [414], .closed),
        WireCase("8 KB of target", put("", target: "/v1/\(String(repeating: "a", count: 8_188))"), [204], .kept),
        WireCase(
            "8 KB and one of target", put("", target: "/v1/\(String(repeating: "a", count: 8_189))"), [414], .closed),
        WireCase("500 fields", put((0..<500).map { "X-\($0): \($0)\r\n" }.joined()), [431], .closed),
        WireCase("99 fields", put((0..<99).map { "X-\($0): \($0)\r\n" }.joined()), [204], .kept),
        WireCase("a head of just 16 KB", head(ofBytes: 16_384), [204], .kept),
        WireCase("a head of one more", head(ofBytes: 16_385), [431], .closed),
        WireCase(
            "2 MB, declared",
            bytes: Array(put("Content-Length: 2097152\r\n").utf8) + [UInt8](repeating: 0, count: 2 << 20),
            [413], .closed),
        WireCase(
            "2 MB in chunks",
            bytes: Array(put(chunked).utf8)
                + (0..<32).flatMap { _ in Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 65_536) + [13, 10] },
            [413], .closed),
        WireCase(
            "2 MB expected to continue", put("Expect: 100-continue\r\nContent-Length: 2097152\r\n"), [413], .closed),
        WireCase(
            "expected to continue", put("Expect: 100-Continue\r\nContent-Length: 2\r\n", "{}"), [100, 204], .kept),
        WireCase("nothing to continue", put("Expect: 100-continue\r\n"), [204], .kept),
        WireCase("refused before its body", put("Content-Length: 2\r\n", "{}", target: "/refused"), [401], .closed),
        WireCase("refused without a body", put("", target: "/refused") + simple, [401, 204], .kept),
    ]

    static let chunks: [WireCase] = [
        WireCase("chunks", put(chunked, "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), [204], .kept),
        WireCase("Chunked", put("Transfer-Encoding: Chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), [204], .kept),
        WireCase("0x2 for a last chunk", put(chunked, "2\r\n{}\r\n0x2\r\n\r\n"), [400], .closed),
        WireCase("a space behind the size", put(chunked, "2 \r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("a sign before the size", put(chunked, "+2\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("no size", put(chunked, "\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("16 digits of size", put(chunked, "0000000000000002\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase("a chunk too long", put(chunked, "2\r\n{} \r\n0\r\n\r\n"), [400], .closed),
        WireCase("chunks with bare LF", put(chunked, "2\n{}\n0\n\n"), [400], .closed),
        WireCase("a chunk that ends with LF", put(chunked, "2\r\n{}\n0\r\n\r\n"), [400], .closed),
        WireCase("an extension", put(chunked, "2;a=\"b\"\r\n{}\r\n0;c\r\n\r\n"), [204], .kept),
        WireCase("an extension with CR", put(chunked, "2;a\rb\r\n{}\r\n0\r\n\r\n"), [400], .closed),
        WireCase(
            "a chunk line of 256", put(chunked, "2;\(String(repeating: "a", count: 252))\r\n{}\r\n0\r\n\r\n"), [204],
            .kept),
        WireCase(
            "a chunk line of 257", put(chunked, "2;\(String(repeating: "a", count: 253))\r\n{}\r\n0\r\n\r\n"), [400],
            .closed),
        WireCase("a trailer", put(chunked, "2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n") + simple, [204, 204], .kept),
        WireCase("a folded trailer", put(chunked, "0\r\nX: 1\r\n 2\r\n\r\n"), [400], .closed),
        WireCase(
            "a long trailer", put(chunked, "0\r\nX: \(String(repeating: "a", count: 5_000))\r\n\r\n"), [431], .closed),
        WireCase("a request behind the chunks", put(chunked, "2\r\n{}\r\n0\r\n\r\n") + simple, [204, 204], .kept),
    ]

    static let lives: [WireCase] = [
        WireCase("a PUT", simple, [204], .kept),
        WireCase("200 in a row", String(repeating: simple, count: 200), [Int](repeating: 204, count: 200), .kept),
        WireCase("a fault behind two", simple + simple + "x", [204, 204], .waits),
        WireCase("half-close after the request", simple, [204], .closed, isHalfClosed: true),
        WireCase("half-close after three", simple + simple + simple, [204, 204, 204], .closed, isHalfClosed: true),
        WireCase("half-close within a head", "GET / HT", [400], .closed, isHalfClosed: true),
        WireCase("half-close within a body", put("Content-Length: 3\r\n", "{}"), [400], .closed, isHalfClosed: true),
        WireCase("half-close at once", "", [], .closed, isHalfClosed: true),
        WireCase("silence", "", [], .waits),
        WireCase("half a head", "PUT /v1/devices/d1 HTTP/1.1\r\nHo", [], .waits),
        WireCase("a body that stops", put("Content-Length: 3\r\n", "{}"), [], .waits),
        WireCase("chunks that stop", put(chunked, "2\r\n{"), [], .waits),
    ]

    private static func head(ofBytes count: Int) -> String {
        put("X: \(String(repeating: "a", count: count - put("X: \r\n").utf8.count))\r\n")
    }
}
