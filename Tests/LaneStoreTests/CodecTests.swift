import CardRules
import LaneStore
import Lanes
import Testing

@Suite struct CodecTests {
    @Test(arguments: seeds)
    func `L1: every record comes back equal, and the same record is the same bytes`(seed: UInt64) throws {
        var random = Seeded(seed)
        for step in 0..<20 {
            let record = random.record()
            let bytes = RecordCodec.encode(record)
            #expect(try RecordCodec.decode(bytes) == record, "step \(step); replay: LANEKEEPER_SEED=\(seed) swift test")
            #expect(RecordCodec.encode(record) == bytes)
        }
    }

    @Test(arguments: seeds)
    func `every slate line comes back equal`(seed: UInt64) throws {
        var random = Seeded(seed)
        for step in 0..<50 {
            let line = random.line()
            #expect(try SlateLineCodec.decode(SlateLineCodec.encode(line)) == line, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: seeds)
    func `every session comes back equal, and cut bytes of one are a fault`(seed: UInt64) throws {
        var random = Seeded(seed)
        for step in 0..<20 {
            let session = random.session()
            let bytes = SessionCodec.encode(session)
            let again = try SessionCodec.decode(bytes)
            #expect(again == session && again.terms == session.terms, "seed \(seed), step \(step)")
            #expect(again.fingerprint == session.fingerprint)
            let count = Int.random(in: bytes.indices, using: &random)
            #expect(throws: CodecFault.self, "seed \(seed), cut at \(count)") {
                try SessionCodec.decode(Array(bytes[..<count]))
            }
        }
    }

    @Test func `L1: a record of version 1 still loads, with nothing of what joined later`() throws {
        let record = try RecordCodec.decode(goldenRecord1())
        #expect(record == recordOfVersion1)
        #expect(record.sessions.isEmpty && record.successors.isEmpty && record.ledger.keys[0].reissued == 0)
        #expect(RecordCodec.encode(record)[0] == 4)
        #expect(try RecordCodec.decode(RecordCodec.encode(record)) == record)
    }

    /// Everything that a record of version 2 could hold.
    private var recordOfVersion2: LaneRecord {
        var record = recordOfVersion1
        record.cards[0].state = .replacing
        record.ledger.keys[0].reissued = 2
        record.sessions = [
            SessionMember(
                key: CardKey(unchecked: "nap"), version: 7, names: [DeviceID(unchecked: "d9")],
                pending: PendingStart(rule: .s5, until: tenPM, isSuccessor: true)),
            SessionMember(key: CardKey(unchecked: "ride"), version: 1, isOver: true),
        ]
        var next = Successor(key: .slate, portion: 3, claimedAt: tenPM, state: .refused(retryAt: tenPM))
        next.activity = ActivityID(unchecked: "A3")
        record.successors = [next]
        return record
    }

    @Test func `L1: a record of version 2 still loads, with nothing of what joined later`() throws {
        let record = try RecordCodec.decode(golden("record-v2.hex"))
        #expect(record == recordOfVersion2)
        #expect(record.probes.isEmpty && !record.ledger.awaitsToken)
    }

    /// Everything that a record of version 3 could hold.
    private var recordOfVersion3: LaneRecord {
        var record = recordOfVersion2
        record.ledger.awaitsToken = true
        record.probes = [
            ProbeCard(
                variant: .full, gateway: .sandbox, state: .accepted(at: tenPM),
                activity: ActivityID(unchecked: "A4")),
            ProbeCard(variant: .noAlert, gateway: .sandbox, state: .unknown(since: tenPM)),
            ProbeCard(variant: .staleDate, gateway: .production, state: .starting(claimedAt: tenPM)),
            ProbeCard(variant: .bareContent, gateway: .production, state: .waiting(until: tenPM)),
        ]
        return record
    }

    @Test func `L1: a record of version 3 still loads, with nothing of what joined later`() throws {
        let record = try RecordCodec.decode(golden("record-v3.hex"))
        #expect(record == recordOfVersion3)
        #expect(record.ledger.gone.isEmpty)
    }

    @Test func `L1: the bytes of version 4 do not change`() throws {
        var record = recordOfVersion3
        record.ledger.gone = [ActivityID(unchecked: "A5"), ActivityID(unchecked: "A6")]
        let golden = try golden("record-v4.hex", writing: RecordCodec.encode(record))
        #expect(RecordCodec.encode(record) == golden)
        #expect(try RecordCodec.decode(golden) == record)
    }

    @Test(arguments: seeds)
    func `cut bytes are a fault that names a field`(seed: UInt64) {
        var random = Seeded(seed)
        let record = RecordCodec.encode(random.record())
        let line = SlateLineCodec.encode(random.line())
        for _ in 0..<60 {
            let count = Int.random(in: record.indices, using: &random)
            #expect(throws: CodecFault.self, "seed \(seed), cut at \(count)") {
                try RecordCodec.decode(Array(record[..<count]))
            }
            let short = Int.random(in: line.indices, using: &random)
            #expect(throws: CodecFault.self, "seed \(seed), cut at \(short)") {
                try SlateLineCodec.decode(Array(line[..<short]))
            }
        }
    }

    @Test(arguments: seeds)
    func `changed bytes are a record or a fault, and nothing worse`(seed: UInt64) throws {
        var random = Seeded(seed)
        let record = RecordCodec.encode(random.record())
        let line = SlateLineCodec.encode(random.line())
        var faults = 0
        for _ in 0..<100 {
            var bytes = random.chance() ? record : line
            for _ in 0..<random.pick([1, 1, 2, 8]) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = random.pick([0, 1, 0x7f, 0x80, 0xff, UInt8(truncatingIfNeeded: random.next())])
            }
            if let read = try? RecordCodec.decode(bytes) {
                // What can be read can be written, and read again.
                let again = RecordCodec.encode(read)
                #expect(try RecordCodec.encode(RecordCodec.decode(again)) == again, "seed \(seed)")
            } else {
                faults += 1
            }
            if (try? SlateLineCodec.decode(bytes)) == nil { faults += 1 }
        }
        #expect(faults > 0)
    }

    @Test func `a fault says which field, and an unknown version says so`() {
        var bytes = RecordCodec.encode(sampleLane("d1").record)
        #expect(throws: CodecFault(field: "device", problem: .cut, offset: 2)) {
            try RecordCodec.decode(Array(bytes[..<3]))
        }
        #expect(throws: CodecFault(field: "record", problem: .excess, offset: bytes.count)) {
            try RecordCodec.decode(bytes + [0])
        }
        bytes[0] = 99
        #expect(throws: CodecFault(field: "version", problem: .version(99), offset: 1)) {
            try RecordCodec.decode(bytes)
        }
    }

    @Test func `nested deeper than any line that was let in is a fault, not a crash`() {
        var patch = ScorePatch(game: GameID(unchecked: "g"), at: WallTime(milliseconds: 0))
        patch.detail = .value((0..<1000).reduce(.null) { value, _ in .array([value]) })
        let bytes = SlateLineCodec.encode(.score(patch))
        let fault = #expect(throws: CodecFault.self) { try SlateLineCodec.decode(bytes) }
        #expect(fault?.field == "detail" && fault?.problem == .impossible)
    }

    /// A field that joins the record has to be written too: then this count, the codec and its version change.
    @Test func `no field of the record is left out`() throws {
        var random = Seeded(1)
        let record = random.record()
        func fields(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
        #expect(fields(record) == 15)
        #expect(fields(record.settings) == 9)
        #expect(fields(record.ledger) == 11)
        #expect(fields(NightLedger.KeyLedger(key: .slate)) == 7)
        #expect(fields(random.card()) == 11)
        #expect(fields(Front(game: random.id(), since: tenPM)) == 5)
        #expect(fields(PushToStart(address: nil, reportedAt: tenPM, ownership: .owner)) == 4)
        #expect(fields(Handover(ledger: record.ledger, cards: [], members: [], endedActivities: [])) == 7)
        #expect(fields(SentMark(key: .slate, fingerprint: nil, front: nil, timestamp: 0)) == 4)
        #expect(fields(SessionMember(key: .slate, version: 0)) == 5)
        #expect(fields(PendingStart(rule: .s4)) == 3)
        #expect(fields(random.successor()) == 8)
        // Two of them are not kept: the push under way and its timestamp.
        #expect(fields(random.probe()) == 6)
        #expect(fields(random.session()) == 7)
        #expect(fields(random.session().terms) == 9)
        #expect(fields(GamePatch(game: random.id(), at: tenPM)) == 13)
        #expect(fields(ScorePatch(game: random.id(), at: tenPM)) == 11)
    }
}
