import Testing

@testable import HTTP2

/// What nghttp2 asks of its allocator (as `malloc`, `realloc` and `free` promise it).
@Suite struct SessionMemoryTests {
    private struct Held {
        var piece: UnsafeMutableRawPointer
        var bytes: Int
        var mark: UInt8

        func isIntact(upTo end: Int) -> Bool {
            UnsafeRawBufferPointer(start: piece, count: min(end, bytes)).allSatisfy { $0 == mark }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>, [true, false])
    func `pieces of any size hold what is written into them until they are given back, also when they are resized`(
        seed: UInt64, isKept: Bool
    ) throws {
        var state = seed
        func draw(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(below))
        }
        let memory = SessionMemory(isKept: isKept)
        var held: [Held] = []
        for step in 0..<20_000 {
            let bytes = [1, 64, 65, 300, 1024, 2048, 2049, 5000][draw(8)] - draw(2)
            switch draw(held.count > 300 ? 2 : 4) {
            case 0 where !held.isEmpty:
                let gone = held.remove(at: draw(held.count))
                #expect(gone.isIntact(upTo: .max), "seed \(seed), step \(step)")
                memory.giveBack(gone.piece)
            case 1 where !held.isEmpty:
                let place = draw(held.count)
                let piece = try #require(memory.resize(held[place].piece, bytes))
                held[place].piece = piece
                #expect(held[place].isIntact(upTo: bytes), "seed \(seed), step \(step)")
                held[place].bytes = bytes
                piece.initializeMemory(as: UInt8.self, repeating: held[place].mark, count: bytes)
            default:
                let piece = try #require(memory.take(bytes))
                #expect(Int(bitPattern: piece) % 16 == 0)
                let mark = UInt8(truncatingIfNeeded: step)
                piece.initializeMemory(as: UInt8.self, repeating: mark, count: bytes)
                held.append(Held(piece: piece, bytes: bytes, mark: mark))
            }
            #expect(memory.held == held.count)
        }
        for one in held {
            #expect(one.isIntact(upTo: .max), "seed \(seed)")
            memory.giveBack(one.piece)
        }
        #expect(memory.held == 0)
    }

    @Test
    func `a piece is used again for the next of its size, nothing is given back, and nothing is asked for in vain`()
        throws
    {
        let memory = SessionMemory(isKept: true)
        let first = try #require(memory.take(300))
        memory.giveBack(first)
        #expect(memory.take(310) == first)
        memory.giveBack(nil)
        #expect(memory.take(-1) == nil)
        #expect(memory.resize(nil, 10) != nil && memory.held == 2)
    }

    @Test(.enabled(if: SessionMemory.isSanitized))
    func `under the address sanitizer nothing is kept: a piece used after it was given back ends the program`() async {
        await #expect(processExitsWith: .failure) {
            let memory = SessionMemory()
            let piece = memory.take(300)
            memory.giveBack(piece)
            piece?.storeBytes(of: 1, toByteOffset: 100, as: UInt8.self)
        }
    }

    @Test func `a session gives back all it takes but what it keeps to its end`() throws {
        let wire = try Wire()
        try wire.settle()
        func round() throws {
            for tag in 0..<100 as Range<UInt64> { try wire.submit(tag) }
            try wire.settle()
            try wire.answerAll()
            try wire.settle()
        }
        try round()
        let held = wire.client.heldPieces
        for _ in 0..<5 { try round() }
        // Streams that are closed stay for a while, in case of late frames: not one more a round.
        #expect(wire.client.heldPieces <= held + 10)
    }
}
