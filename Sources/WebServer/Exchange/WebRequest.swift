/// The head of a request, checked: what a handler may judge before the body is read.
public struct WebRequestHead: Sendable {
    /// A token as it came; methods are case-sensitive (RFC 9110, 9.1).
    public let method: String
    /// The path cut at its slashes, each segment percent-decoded by itself, so that an encoded slash stays inside one.
    /// `/` alone is one empty segment.
    public let path: [String]
    /// The members of the query in their order, percent-decoded; a member without `=` has an empty value.
    public let query: [(name: String, value: String)]
    public let headers: WebHeaders
    /// The length that the body announces; `nil` where it comes in chunks.
    public let bodyLength: Int?

    public init(
        method: String, path: [String], query: [(name: String, value: String)] = [], headers: WebHeaders = WebHeaders(),
        bodyLength: Int? = 0
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.bodyLength = bodyLength
    }
}

/// A whole request.
public struct WebRequest: Sendable {
    public let head: WebRequestHead
    public let body: [UInt8]

    public init(head: WebRequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}

/// Header fields in their order. Names are compared without regard to case.
public struct WebHeaders: Sendable, ExpressibleByArrayLiteral {
    public private(set) var fields: [(name: String, value: String)]

    public init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

    public init(arrayLiteral elements: (String, String)...) { self.init(elements.map { (name: $0.0, value: $0.1) }) }

    public mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    /// The first of that name.
    public subscript(name: String) -> String? {
        fields.first {
            $0.name.utf8.count == name.utf8.count
                && $0.name.utf8.elementsEqual(name.utf8) { $0.lowercased == $1.lowercased }
        }?.value
    }
}
