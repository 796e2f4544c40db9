import CardRules
import Simulation
import Testing

@testable import Intake

@Suite struct RowChangeTests {
    static let samples: [(bytes: [UInt8], change: RowChange)] = [
        (
            [0x42, 0, 0, 0, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x0A, 0, 0, 2, 0xE5],
            .begin(commit: LogPosition(0x110), at: ServerTime(microseconds: 10))
        ),
        (
            [0x43, 0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 1, 0x40]
                + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            .commit(end: LogPosition(0x140), at: ServerTime(microseconds: -1))
        ),
        (
            [0x52, 0, 0, 0x40, 1] + Array("public\0game\0".utf8) + [0x64, 0, 2, 1] + Array("id\0".utf8)
                + [0, 0, 0, 25, 0xFF, 0xFF, 0xFF, 0xFF, 0] + Array("home_score\0".utf8)
                + [0, 0, 0, 23, 0xFF, 0xFF, 0xFF, 0xFF],
            .relation(
                RowChange.Relation(
                    number: 0x4001, schema: "public", name: "game",
                    columns: [
                        RowChange.Column(name: "id", isKey: true), RowChange.Column(name: "home_score", isKey: false),
                    ]))
        ),
        (
            [0x49, 0, 0, 0x40, 1, 0x4E, 0, 3, 0x74, 0, 0, 0, 2, 0x67, 0x31, 0x6E, 0x75],
            .insert(table: 0x4001, new: RowChange.Tuple(values: [.text(13..<15), .null, .unchanged]))
        ),
        (
            [0x55, 0, 0, 0x40, 1, 0x4E, 0, 1, 0x74, 0, 0, 0, 0],
            .update(table: 0x4001, key: nil, new: RowChange.Tuple(values: [.text(13..<13)]))
        ),
        (
            [0x55, 0, 0, 0x40, 1, 0x4B, 0, 1, 0x74, 0, 0, 0, 1, 0x61, 0x4E, 0, 1, 0x6E],
            .update(
                table: 0x4001, key: RowChange.Tuple(values: [.text(13..<14)]), new: RowChange.Tuple(values: [.null]))
        ),
        (
            [0x55, 0, 0, 0x40, 1, 0x4F, 0, 1, 0x6E, 0x4E, 0, 0],
            .update(table: 0x4001, key: RowChange.Tuple(values: [.null]), new: RowChange.Tuple(values: []))
        ),
        (
            [0x44, 0, 0, 0x40, 1, 0x4B, 0, 1, 0x74, 0, 0, 0, 1, 0x61],
            .delete(table: 0x4001, key: RowChange.Tuple(values: [.text(13..<14)]))
        ),
        ([0x54, 0, 0, 0, 2, 0, 0, 0, 0x40, 1, 0, 0, 0x40, 2], .truncate(tables: [0x4001, 0x4002])),
        ([0x4F, 0, 0, 0, 0, 0, 0, 0, 9] + Array("elsewhere\0".utf8), .origin(name: "elsewhere")),
        ([0x59, 0, 0, 0x40, 9] + Array("public\0phase\0".utf8), .type(number: 0x4009, name: "phase")),
    ]

    @Test(arguments: samples.indices)
    func `a message is read byte by byte, and wherever it is cut it is refused`(index: Int) throws {
        let (bytes, change) = RowChangeTests.samples[index]
        #expect(try RowChange.read(bytes.span, in: 0..<bytes.count) == change)
        for count in 0..<bytes.count {
            #expect(throws: WireFault.self, "cut to \(count)") { try RowChange.read(bytes.span, in: 0..<count) }
        }
        let longer = bytes + [0]
        #expect(throws: WireFault(.tooLong, at: bytes.count)) { try RowChange.read(longer.span, in: 0..<longer.count) }
    }

    @Test func `a message is read where it stands among others`() throws {
        let (bytes, _) = RowChangeTests.samples[3]
        let among = [UInt8](repeating: 0x42, count: 7) + bytes + [0x42]
        let read = try RowChange.read(among.span, in: 7..<7 + bytes.count)
        #expect(read == .insert(table: 0x4001, new: RowChange.Tuple(values: [.text(20..<22), .null, .unchanged])))
    }

    @Test func `unknown kinds are named`() {
        func fault(_ bytes: [UInt8]) -> WireFault? {
            #expect(throws: WireFault.self) { try RowChange.read(bytes.span, in: 0..<bytes.count) }
        }
        #expect(fault([0x53, 0])?.reason == .unknownMessage(0x53))
        #expect(fault([0x49, 0, 0, 0, 1, 0x4B, 0, 0])?.reason == .unknownTuple(0x4B))
        #expect(fault([0x44, 0, 0, 0, 1, 0x4E, 0, 0])?.reason == .unknownTuple(0x4E))
        #expect(fault([0x49, 0, 0, 0, 1, 0x4E, 0, 1, 0x62])?.reason == .unknownValue(0x62))
        // A length beyond the message, and the largest there is.
        #expect(fault([0x49, 0, 0, 0, 1, 0x4E, 0, 1, 0x74, 0xFF, 0xFF, 0xFF, 0xFF, 1])?.reason == .cutShort)
        #expect(fault([0x54, 0xFF, 0xFF, 0xFF, 0xFF, 0])?.reason == .cutShort)
    }

    @Test func `the stream's envelope is read, and the answer to it written`() throws {
        let data: [UInt8] = [0x77] + [UInt8](repeating: 1, count: 24) + [0x42, 0x43]
        #expect(try StreamMessage.read(data.span, in: 0..<data.count) == .data(25..<27))
        let alive: [UInt8] = [0x6B, 0, 0, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 8) + [1]
        #expect(
            try StreamMessage.read(alive.span, in: 0..<alive.count)
                == .keepalive(end: LogPosition(256), wantsAnswer: true))
        for count in 0..<alive.count {
            #expect(throws: WireFault.self) { try StreamMessage.read(alive.span, in: 0..<count) }
        }
        let status = StreamMessage.status(confirmed: LogPosition(258), at: WallTime(seconds: 946_684_801))
        let position: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 2]
        #expect(status == [0x72] + position + position + position + [0, 0, 0, 0, 0, 0x0F, 0x42, 0x40, 0])
    }

    @Test(arguments: [(Int64(0), Int64(946_684_800_000)), (1_999, 946_684_800_001), (-1, 946_684_799_999)])
    func `the server counts from the year 2000`(microseconds: Int64, milliseconds: Int64) {
        #expect(ServerTime(microseconds: microseconds).wallTime.milliseconds == milliseconds)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `whatever the bytes, reading ends and stays inside them`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = RowChangeTests.samples[Int(random.next() % UInt64(RowChangeTests.samples.count))].bytes
            for _ in 0...Int(random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
                default: if bytes.count > 1 { bytes.remove(at: place) }
                }
            }
            guard let change = try? RowChange.read(bytes.span, in: 0..<bytes.count) else { continue }
            read += 1
            guard case .insert(_, let tuple) = change else { continue }
            for case .text(let range) in tuple.values {
                #expect(range.lowerBound >= 0 && range.upperBound <= bytes.count, "seed \(seed): \(bytes)")
            }
        }
        #expect(read > 1000, "seed \(seed): the fuzzer must not only make rubbish")
    }
}
