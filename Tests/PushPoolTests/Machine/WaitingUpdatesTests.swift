import CardRules
import Testing

@testable import PushPool

/// G7: the table of updates that wait, against a dictionary.
@Suite struct WaitingUpdatesTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `G7: it finds what waits and nothing else, also tokens whose bits or places are the same`(seed: UInt64) {
        var state = seed
        func draw(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(below))
        }
        // Few bits, so that many share theirs; a token is its number.
        let bits = (0..<400).map { _ in UInt64(1 + draw(seed % 2 == 0 ? 12 : 1_000_000)) }
        var table = WaitingUpdates()
        var waiting: [Int: PushID] = [:]
        var tokens: [PushID: Int] = [:]
        for step in 0..<20_000 {
            let token = draw(bits.count)
            let found = table.first(bits[token]) { tokens[$0] == token }
            #expect(found == waiting[token], "seed \(seed), step \(step)")
            switch draw(3) {
            case 0:
                guard found == nil else { continue }
                let push = PushID(place: step)
                table.insert(push, bits[token])
                waiting[token] = push
                tokens[push] = token
            case 1:
                guard let found else { continue }
                table.remove(found, bits[token])
                waiting[token] = nil
            default: table.remove(PushID(place: -1), bits[token])  // one that is not there
            }
            #expect(table.count == waiting.count, "seed \(seed), step \(step)")
        }
        for (token, push) in waiting {
            #expect(table.first(bits[token]) { tokens[$0] == token } == push, "seed \(seed)")
            table.remove(push, bits[token])
        }
        #expect(table.isEmpty)
    }

    @Test func `G7: updates of two cards whose tokens share their 64 bits do not take each other's place`() {
        var bench = PoolBench(streams: nil)
        // First and last eight bytes make the bits.
        let ends = [UInt8](1...8)
        let one = ends + [1] + ends
        let other = ends + [2] + ends
        #expect(AddressKey(token: one).bits == AddressKey(token: other).bits)
        for token in [one, other, one] {
            bench.add(PushFacts(event: .update, rank: .urgentUpdate, token: token))
        }
        #expect(bench.state.waitingCount == 2 && bench.settled.map(\.1) == [.notSent])
    }
}
