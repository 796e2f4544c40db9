/// Why a call has no answer. Texts are libcurl's or the peer's: tamed before a terminal gets them (`complain` does).
enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It cannot be sent as it is: a header with a line break, a method that is none.
    case badRequest(String)
    /// No connection: the name is unknown, nobody listens, no way there. Nothing was sent.
    case unreachable(String)
    /// No trust: the certificate, or TLS itself. Nothing was sent.
    case untrusted(String)
    /// No whole answer in time: what was asked may have happened.
    case timedOut(String)
    /// The connection broke, or the answer is not HTTP: what was asked may have happened.
    case broken(String)
    /// The answer is longer than the client takes.
    case tooLong(limitBytes: Int)
    /// More wait for a connection than the client holds. Nothing was sent.
    case tooManyWaiting(limit: Int)
    /// By the caller: what was asked may have happened.
    case cancelled
    /// The client was stopped: what was asked may have happened.
    case stopped

    var description: String {
        switch self {
        case .badRequest(let text): "the request cannot be sent: \(text)"
        case .unreachable(let text): "not reachable: \(text)"
        case .untrusted(let text): "not trusted: \(text)"
        case .timedOut(let text): "no answer in time: \(text)"
        case .broken(let text): "the connection broke: \(text)"
        case .tooLong(let limit): "the answer is longer than \(limit) bytes"
        case .tooManyWaiting(let limit): "more than \(limit) calls wait already"
        case .cancelled: "cancelled"
        case .stopped: "the client was stopped"
        }
    }
}
