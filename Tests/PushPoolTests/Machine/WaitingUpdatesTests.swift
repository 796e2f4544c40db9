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

    @Test func `G7: tokens that are alike but for a number have places of their own`() {
        let ends = [UInt8](repeating: 7, count: 30)
        func token(_ number: Int) -> [UInt8] { ends + [UInt8(number >> 8), UInt8(number & 255)] + ends }
        var bench = PoolBench(streams: nil)
        for number in 0..<10_000 {
            bench.add(PushFacts(event: .update, rank: .urgentUpdate, to: AddressKey(token: token(number))))
        }
        #expect(bench.state.waitingCount == 10_000 && bench.settled.isEmpty)
        #expect(Set((0..<10_000).map { AddressKey(token: token($0)).bits }).count == 10_000)
        bench.add(PushFacts(event: .update, rank: .urgentUpdate, to: AddressKey(token: token(1234))))
        #expect(bench.state.waitingCount == 10_000 && bench.settled.map(\.1) == [.notSent])
    }

    @Test func `G7: updates of two cards whose tokens share their hash do not take each other's place`() {
        var bench = PoolBench(streams: nil)
        let (one, other) = (AddressKey(token: [1], bits: 7), AddressKey(token: [2], bits: 7))
        for address in [one, other, one] {
            bench.add(PushFacts(event: .update, rank: .urgentUpdate, to: address))
        }
        #expect(bench.state.waitingCount == 2 && bench.settled.map(\.1) == [.notSent])
    }
}
