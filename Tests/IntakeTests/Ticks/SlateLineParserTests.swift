import CardRules
import Intake
import Testing

@Suite struct SlateLineParserTests {
    private func parse(_ text: String) throws(SlateLineFault) -> SlateLine {
        let bytes = Array(text.utf8)
        return try SlateLineParser.parse(bytes.span)
    }

    private func fault(_ text: String) -> SlateLineFault? {
        do throws(SlateLineFault) {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    private func read(_ body: String) throws -> SlateText {
        let bytes = Array(body.utf8)
        return try SlateText(bytes.span)
    }

    @Test func `slates: an announcement is read whole`() throws {
        let line = try parse(
            #"{"t":1385314200,"type":"game","game":"nfl-2013112407","sport":"football","league":"NFL","home":"St. Louis Rams","away":"Chicago Bears","startsAt":1385316000.25,"homeRank":18,"awayRank":9,"spread":1.5,"favourite":"away","venue":{"roof":true}}"#
        )
        var expected = GamePatch(
            game: GameID(unchecked: "nfl-2013112407"), at: WallTime(milliseconds: 1_385_314_200_000))
        expected.sport = .value(.football)
        expected.league = .value("NFL")
        expected.home = .value("St. Louis Rams")
        expected.away = .value("Chicago Bears")
        expected.startsAt = .value(WallTime(milliseconds: 1_385_316_000_250))
        expected.homeRank = .value(18)
        expected.awayRank = .value(9)
        expected.spread = .value(1.5)
        expected.favourite = .value(.away)
        expected.others = ["venue": .object(["roof": .bool(true)])]
        #expect(line == .game(expected))
    }

    @Test func `C5: absent, null and a value differ; keys may come in any order`() throws {
        let line = try parse(
            #"{"detail":{"play":"shot"},"clock":null,"home":14,"game":"g","type":"score","t":5.5,"version":7,"correction":true,"x":1}"#
        )
        var expected = ScorePatch(game: GameID(unchecked: "g"), at: WallTime(milliseconds: 5500))
        expected.home = .value(14)
        expected.clock = .null
        expected.detail = .value(.object(["play": .string("shot")]))
        expected.version = 7
        expected.isCorrection = true
        expected.others = ["x": .integer(1)]
        #expect(line == .score(expected))
    }

    @Test(arguments: [
        (#"{"type":"score","game":"g"}"#, "/t", 1), (#"{"t":1,"game":"g"}"#, "/type", 1),
        (#"{"t":1,"type":"score"}"#, "/game", 1),
        (#"{"t":"1","type":"score","game":"g"}"#, "/t", 6),
        (#"{"t":1385317320000,"type":"score","game":"g"}"#, "/t", 6),
        (#"{"t":-1,"type":"score","game":"g"}"#, "/t", 6), (#"{"t":1,"type":"goal","game":"g"}"#, "/type", 15),
        (#"{"t":1,"type":"score","game":"g g"}"#, "/game", 30),
        (#"{"t":1,"type":"score","game":"g\u0000"}"#, "/game", 30),
        (#"{"t":1,"type":"score","game":"g","home":"14"}"#, "/home", 41),
        (#"{"t":1,"type":"score","game":"g","home":1.5}"#, "/home", 41),
        (#"{"t":1,"type":"score","game":"g","phase":"over"}"#, "/phase", 42),
        (#"{"t":1,"type":"score","game":"g","clock":300}"#, "/clock", 42),
        (#"{"t":1,"type":"score","game":"g","version":true}"#, "/version", 44),
        (#"{"t":1,"type":"score","game":"g","correction":1}"#, "/correction", 47),
        (#"{"t":1,"type":"game","game":"g","home":14}"#, "/home", 40),
        (#"{"t":1,"type":"game","game":"g","favourite":"both"}"#, "/favourite", 45),
        (#"{"t":1,"type":"game","game":"g","homeRank":0}"#, "/homeRank", 44),
    ])
    func `slates: an invalid field is named, with its column`(text: String, field: String, column: Int) {
        let fault = fault(text)
        #expect(fault?.field == field)
        #expect(fault?.column == column)
    }

    @Test func `slates: broken JSON has its reason and column`() {
        #expect(fault(#"{"t":1,}"#) == SlateLineFault(.syntax(.unexpectedByte(0x7D)), column: 8))
        #expect(fault("[1]") == SlateLineFault(.notAnObject, column: 1))
        #expect(fault(#"{"t":1,"t":2}"#) == SlateLineFault(.syntax(.duplicateKey("t")), column: 8))
        let twice = #"{"t":1,"type":"score","game":"g","detail":{"a":1,"a":2}}"#
        #expect(fault(twice) == SlateLineFault(.syntax(.duplicateKey("a")), column: 50))
    }

    @Test(arguments: [
        (#"{"t":"x","type":"score","game":"g"}"#, "t: must be a number of Unix seconds (column 6)"),
        (#"{"type":"score","game":"g"}"#, "t: is missing"),
        (#"{"t":1,"type":"score","game":"g","correction":1}"#, "correction: must be true or false (column 47)"),
        (#"{"t":1,}"#, #""}" cannot stand here (column 8)"#), ("[]", "a line is one JSON object (column 1)"),
    ])
    func `slates: a fault reads as one line for people`(text: String, line: String) {
        #expect(fault(text)?.description == line)
    }

    @Test func `slates: lines count from 1, blank ones are skipped, faults do not stop the rest`() throws {
        let body =
            "\n{\"t\":1,\"type\":\"score\",\"game\":\"g\"}\r\n  \t\nrubbish\n{\"t\":2,\"type\":\"score\",\"game\":\"g\"}"
        let text = try read(body)
        #expect(text.lines.map(\.number) == [2, 5])
        #expect(text.rejected.map(\.number) == [4])
        #expect(text.rejectedCount == 1)
    }

    @Test(arguments: ["", "\n\n", "x\ny"])
    func `slates: a text without a usable line is an error`(body: String) {
        #expect(throws: SlateTextFault.self) { try read(body) }
    }

    @Test func `slates: of many rejected lines the first are told and all are counted`() {
        #expect {
            try read(String(repeating: "x\n", count: 5000))
        } throws: { error in
            guard case SlateTextFault.noUsableLine(let rejected, let count) = error else { return false }
            return rejected.count == SlateText.maximumRejected && count == 5000
        }
    }
}
