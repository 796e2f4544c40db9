internal import CardRules

/// The header of a push, pseudo-header fields first (RFC 9113, 8.3). Source: ref 1.2 and T24.
///
/// - Parameters:
///   - authority: host of the gateway, with its port where that is not 443.
public func headers(of request: PushRequest, providerToken: ProviderToken, authority: [UInt8]) -> [HeaderField] {
    var fields: [HeaderField] = []
    fields.reserveCapacity(11)
    appendHeaders(of: request, providerToken: providerToken, authority: authority, to: &fields)
    return fields
}

/// The same into a kept array.
public func appendHeaders(
    of request: PushRequest, providerToken: ProviderToken, authority: [UInt8], to fields: inout [HeaderField]
) {
    fields.append(HeaderField(name: ":method", value: fixed.post, indexing: .always))
    fields.append(HeaderField(name: ":scheme", value: fixed.https, indexing: .always))
    fields.append(HeaderField(name: ":path", value: path(of: request.address), indexing: .never))
    fields.append(HeaderField(name: ":authority", value: authority, indexing: .always))
    fields.append(HeaderField(name: "authorization", value: providerToken.authorization, indexing: .never))
    fields.append(HeaderField(name: "apns-push-type", value: fixed.liveActivity, indexing: .always))
    fields.append(HeaderField(name: "apns-topic", value: Array(request.topic.utf8), indexing: .always))
    let priority = request.priority == .immediate ? fixed.ten : fixed.five
    fields.append(HeaderField(name: "apns-priority", value: priority, indexing: .always))
    fields.append(HeaderField(name: "apns-id", value: request.id.text, indexing: .firstTime))
    fields.append(HeaderField(name: "apns-expiration", value: decimal(request.expiration), indexing: .firstTime))
    if let collapseID = request.collapseID {
        fields.append(HeaderField(name: "apns-collapse-id", value: Array(collapseID.utf8), indexing: .firstTime))
    }
}

/// `/3/device/` and the token in lower-case hex, however long it is (ref T20).
func path(of address: PushAddress) -> [UInt8] {
    var path: [UInt8] = []
    path.reserveCapacity(fixed.device.count + 2 * address.token.count)
    path.append(contentsOf: fixed.device)
    for byte in address.token {
        path.append(hexDigit(byte >> 4))
        path.append(hexDigit(byte & 15))
    }
    return path
}

private func decimal(_ value: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.integer(value)
    return writer.bytes
}

/// Values that are the same in every push, made once.
private enum fixed {
    static let post = Array("POST".utf8)
    static let https = Array("https".utf8)
    static let device = Array("/3/device/".utf8)
    static let liveActivity = Array("liveactivity".utf8)
    static let ten = Array("10".utf8)
    static let five = Array("5".utf8)
}
