internal import CardRules
internal import WebServer

/// The query of a request, read by what its route knows.
struct QueryValues: Sendable {
    var device: DeviceID?
    var after: Int64?
    var limit: Int?

    static let limits = 1...1000

    /// - Throws: 422 for a parameter that the route does not know, that stands twice, or whose value is not of its form.
    init(_ head: WebRequestHead, for route: Route) throws(Problem) {
        var seen: Set<String> = []
        for (name, value) in head.query {
            guard route.query.contains(where: { $0.name == name }) else {
                let nearest = nearestName(to: name, among: route.query.map(\.name)).map { "; \($0)?" } ?? ""
                throw Problem(422, "the query has \(name), which is no parameter of this call\(nearest)")
            }
            guard seen.insert(name).inserted else { throw Problem(422, "the query has \(name) twice") }
            try read(name, value)
        }
        if route.call == .getEvents, let id = head.headers["Last-Event-ID"] {
            // What the client saw last is newer than the address that it opened first.
            guard let number = QueryValues.number(id) else {
                throw Problem(422, "Last-Event-ID must be the id of an event")
            }
            after = number
        }
    }

    private mutating func read(_ name: String, _ value: String) throws(Problem) {
        switch name {
        case "device":
            guard let id = DeviceID(value) else {
                throw Problem(422, "the query's device must be \(identifierExpected)")
            }
            device = id
        case "after":
            guard let number = QueryValues.number(value) else {
                throw Problem(422, "the query's after must be the seq of an entry, a whole number from 0")
            }
            after = number
        default:
            guard let number = QueryValues.number(value), QueryValues.limits.contains(Int(number)) else {
                throw Problem(422, "the query's limit must be a whole number, 1 to \(QueryValues.limits.upperBound)")
            }
            limit = Int(number)
        }
    }

    /// Digits alone: no sign, no space.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
