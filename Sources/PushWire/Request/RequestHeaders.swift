internal import CardRules

/// The header of a push, pseudo-header fields first (RFC 9113, 8.3). Source: ref 1.2 and T24.
///
/// - Parameters:
///   - authority: host of the gateway, with its port where that is not 443.
public func headers(of request: PushRequest, providerToken: ProviderToken, authority: [UInt8]) -> [HeaderField] {
    var shared: [HeaderField] = []
    var own: [HeaderField] = []
    forEachSharedHeader(topic: request.topic, providerToken: providerToken, authority: authority) {
        shared.append(HeaderField(name: $0, value: $1.withUnsafeBufferPointer { Array($0) }, indexing: $2))
    }
    var scratch = HeaderScratch()
    forEachOwnHeader(of: request, scratch: &scratch) {
        own.append(HeaderField(name: $0, value: $1.withUnsafeBufferPointer { Array($0) }, indexing: $2))
    }
    return Array(shared.prefix(2) + own.prefix(1) + shared.dropFirst(2) + own.dropFirst())
}

/// Those that are the same for all pushes of one app: `put` is called for each field in order, and its value is good during
/// that call.
public func forEachSharedHeader(
    topic: String, providerToken: ProviderToken, authority: [UInt8],
    _ put: (StaticString, Span<UInt8>, HeaderField.Indexing) -> Void
) {
    put(":method", fixed.post.span, .always)
    put(":scheme", fixed.https.span, .always)
    put(":authority", authority.span, .always)
    put("authorization", providerToken.authorization.span, .never)
    put("apns-push-type", fixed.liveActivity.span, .always)
    put("apns-topic", topic.utf8.span, .always)
}

/// The others: `:path` first.
/// - Parameter scratch: kept memory; what it holds before or after means nothing.
public func forEachOwnHeader(
    of request: PushRequest, scratch: inout HeaderScratch,
    _ put: (StaticString, Span<UInt8>, HeaderField.Indexing) -> Void
) {
    write(pathOf: request.address, into: &scratch.path)
    put(":path", scratch.path.span, .never)
    put("apns-priority", request.priority == .immediate ? fixed.ten.span : fixed.five.span, .always)
    request.id.write(into: &scratch.id)
    put("apns-id", scratch.id.span, .firstTime)
    if scratch.expiration != request.expiration {
        write(decimal: request.expiration, into: &scratch.number)
        scratch.expiration = request.expiration
    }
    put("apns-expiration", scratch.number.span, .firstTime)
    if let collapseID = request.collapseID { put("apns-collapse-id", collapseID.utf8.span, .firstTime) }
}

/// Kept memory for the values of header fields.
public struct HeaderScratch: Sendable {
    var path: [UInt8] = []
    var id: [UInt8] = []
    var number: [UInt8] = []
    /// What stands in `number`: mostly that of the next push, too.
    var expiration: Int64?

    public init() {}
}

/// `/3/device/` and the token in lower-case hex, however long it is (ref T20).
func path(of address: PushAddress) -> [UInt8] {
    var path: [UInt8] = []
    write(pathOf: address, into: &path)
    return path
}

private func write(pathOf address: PushAddress, into bytes: inout [UInt8]) {
    let start = fixed.device.count
    let count = start + 2 * address.token.count
    if bytes.count != count {
        bytes = fixed.device + [UInt8](repeating: 0, count: 2 * address.token.count)
    }
    // The beginning is there from the last time. Four bytes at a time: this is half of what a push's own fields cost.
    bytes.withUnsafeMutableBytes { digits in
        address.token.withUnsafeBytes { token in
            var place = 0
            while place + 4 <= token.count {
                let four = UInt32(bigEndian: token.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                digits.storeBytes(of: hexText(four).bigEndian, toByteOffset: start + 2 * place, as: UInt64.self)
                place += 4
            }
            while place < token.count {
                let text = hexText(UInt32(token[place]))
                digits[start + 2 * place] = UInt8(truncatingIfNeeded: text >> 8)
                digits[start + 2 * place + 1] = UInt8(truncatingIfNeeded: text)
                place += 1
            }
        }
    }
}

/// Eight lower-case hex digits in one number, the first digit in its highest byte.
@inline(__always)
func hexText(_ value: UInt32) -> UInt64 {
    var digits = UInt64(value)
    digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
    digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
    digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
    let isLetter = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return digits &+ 0x3030_3030_3030_3030 &+ isLetter &* 39
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
}
