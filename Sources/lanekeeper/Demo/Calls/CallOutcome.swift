import CardRules
import Foundation

/// What an answer means to whoever called. Pure.
enum CallOutcome: Hashable, Sendable {
    /// 2xx: durable.
    case done
    /// The server will never take it: dropped.
    case refused(status: Int)
    /// It could not now, or nobody knows whether it did: calls are idempotent, so the same again.
    case again(afterSeconds: Double)

    /// - Parameter failures: how often the same call has failed before.
    init(_ answer: Result<ClientResponse, ClientError>, failures: Int) {
        switch answer {
        case .success(let response):
            switch response.status {
            case 200..<300: self = .done
            case 408, 429, 500...:
                let asked = response.header("Retry-After").flatMap { Int($0) }.map { Double(max(0, $0)) }
                self = .again(
                    afterSeconds: min(asked ?? CallOutcome.pause(failures), CallOutcome.mostPauseSeconds))
            default: self = .refused(status: response.status)
            }
        case .failure(.badRequest), .failure(.untrusted): self = .refused(status: 0)
        case .failure: self = .again(afterSeconds: CallOutcome.pause(failures))
        }
    }

    private static let mostPauseSeconds = 60.0

    /// 1, 2, 4 ... 60 s.
    private static func pause(_ failures: Int) -> Double {
        min(mostPauseSeconds, Double(1 << max(0, min(failures, 6))))
    }
}
