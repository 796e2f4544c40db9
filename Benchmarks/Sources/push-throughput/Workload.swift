import CardRules
import PushWire

/// The requests that both clients send: updates of one slate, each to a phone of its own.
enum Workload {
    static let bundleID = "com.example.lineup"
    static let topic = bundleID + ".push-type.liveactivity"

    /// 80 bytes, as a long update token has; another one for each number. Cheap: h2load reads its own from a file.
    static func token(_ number: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 80) { room, count in
            let words = UnsafeMutableRawBufferPointer(room)
            var state = UInt64(number) &* 0x9e37_79b9_7f4a_7c15 &+ 1
            for place in stride(from: 0, to: 80, by: 8) {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                words.storeBytes(of: state, toByteOffset: place, as: UInt64.self)
            }
            count = 80
        }
    }

    /// A slate of two games: 378 bytes.
    static let payload: [UInt8] = {
        let head = #"{"aps":{"timestamp":1795000000,"event":"update","relevance-score":71,"stale-date":1795000600,"#
        let state = #""content-state":{"asOf":1795000000,"games":["#
        let first =
            #"{"id":"nba-2026-11-30-bos-nyk","home":"BOS","away":"NYK","score":[98,97],"period":"Q4","clock":"1:12"},"#
        let second =
            #"{"id":"nba-2026-11-30-den-lal","home":"DEN","away":"LAL","score":[54,61],"period":"Q2","clock":"3:40"}"#
        let tail = "]}}}"
        var bytes = Array((head + state + first + second + tail).utf8)
        // Space is no part of JSON's meaning: it brings the body to the size of the measurements.
        while bytes.count < 378 { bytes.insert(UInt8(ascii: " "), at: bytes.count - 1) }
        return bytes
    }()

    static func request(_ number: Int, expiration: Int64) -> PushRequest {
        PushRequest(
            id: ApnsID(randomHigh: UInt64(number) &* 0x9e37_79b9_7f4a_7c15, randomLow: UInt64(number)),
            address: PushAddress(token: token(number), gateway: .production), topic: topic, event: .update,
            priority: .immediate, expiration: expiration, collapseID: nil, payload: payload)
    }
}
