internal import CardRules

/// The header of a push, pseudo-header fields first (RFC 9113, 8.3). Source: ref 1.2 and T24.
///
/// - Parameters:
///   - authority: host of the gateway, with its port where that is not 443.
public func headers(of request: PushRequest, providerToken: ProviderToken, authority: [UInt8]) -> [HeaderField] {
    var fields: [HeaderField] = []
    fields.reserveCapacity(11)
    var scratch: [UInt8] = []
    forEachHeader(of: request, providerToken: providerToken, authority: authority, scratch: &scratch) {
        name, value, indexing in
        fields.append(
            HeaderField(name: name, value: value.withUnsafeBufferPointer { Array($0) }, indexing: indexing))
    }
    return fields
}

/// The same without an array for each: `put` is called for each field in order, and its value is good during that call.
/// - Parameter scratch: kept memory; what it holds before or after means nothing.
public func forEachHeader(
    of request: PushRequest, providerToken: ProviderToken, authority: [UInt8], scratch: inout [UInt8],
    _ put: (StaticString, Span<UInt8>, HeaderField.Indexing) -> Void
) {
    put(":method", fixed.post.span, .always)
    put(":scheme", fixed.https.span, .always)
    write(pathOf: request.address, into: &scratch)
    put(":path", scratch.span, .never)
    put(":authority", authority.span, .always)
    put("authorization", providerToken.authorization.span, .never)
    put("apns-push-type", fixed.liveActivity.span, .always)
    put("apns-topic", request.topic.utf8.span, .always)
    put("apns-priority", request.priority == .immediate ? fixed.ten.span : fixed.five.span, .always)
    request.id.write(into: &scratch)
    put("apns-id", scratch.span, .firstTime)
    write(decimal: request.expiration, into: &scratch)
    put("apns-expiration", scratch.span, .firstTime)
    if let collapseID = request.collapseID { put("apns-collapse-id", collapseID.utf8.span, .firstTime) }
}

/// `/3/device/` and the token in lower-case hex, however long it is (ref T20).
func path(of address: PushAddress) -> [UInt8] {
    var path: [UInt8] = []
    write(pathOf: address, into: &path)
    return path
}

private func write(pathOf address: PushAddress, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(fixed.device.count + 2 * address.token.count)
    bytes.append(contentsOf: fixed.device)
    let digits = fixed.digits
    for byte in address.token {
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }
}

private func write(decimal value: Int64, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    var rest = value.magnitude
    repeat {
        bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
    } while rest > 0
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.reverse()
}

/// Values that are the same in every push, made once.
private enum fixed {
    static let post = Array("POST".utf8)
    static let https = Array("https".utf8)
    static let device = Array("/3/device/".utf8)
    static let liveActivity = Array("liveactivity".utf8)
    static let ten = Array("10".utf8)
    static let five = Array("5".utf8)
    static let digits = Array("0123456789abcdef".utf8)
}
