import Intake
import Testing

@Suite struct SpoilerLintTests {
    private func game(_ more: String) -> String {
        payload(
            "update",
            [
                (
                    "content-state",
                    #"{"games":[{"id":"g","sport":"basketball","home":"A","away":"B","phase":"live"\#(more)}],"front":"g","spoilerFree":true,"asOf":1795000000}"#
                )
            ])
    }

    @Test(arguments: [
        (#","homeScore":98"#, 1), (#","awayScore":0"#, 1), (#","detail":{"outs":2}"#, 1),
        (#","moment":"overtime""#, 2), (#","period":4,"clock":"2:31""#, 0), (#","period":5"#, 1),
        (#","period":5,"clock":"2:31""#, 2), (#","winner":"A""#, 1), (#","home_score":1"#, 1), ("", 0),
    ])
    func `P2: what tells how a game stands is found in the content, with --spoiler-free only`(more: String, count: Int)
    {
        let found = kinds(game(more), isSpoilerFree: true)
        #expect(found.count == count && found.allSatisfy { $0 == .spoiler })
        #expect(kinds(game(more)) == [])
    }

    @Test func `P2: content that says it is not spoiler-free is found`() {
        let text = payload("update", [("content-state", #"{"spoilerFree":false}"#)])
        #expect(kinds(text, isSpoilerFree: true) == [.spoiler] && kinds(text) == [])
    }

    @Test(arguments: [
        ("Boston 98-101 New York", true), ("3 : 2 now", true), ("2–1", true), ("Boston leads", true),
        ("Overtime in Boston", true), ("A walk-off chance", true), ("Since 22:15", false), ("76ers at Boston", false),
        ("New York at Boston", false), ("Worth watching now", false), ("Group A-1", false), ("2026-11-30", false),
    ])
    func `P2: a score, a leader or a moment in the alert is found`(text: String, isFound: Bool) {
        let alert = payload("start", [("alert", #"{"title":"\#(text)","body":"Tonight"}"#)])
        #expect(kinds(alert, isSpoilerFree: true) == (isFound ? [.spoiler] : []))
        #expect(kinds(alert) == [])
        let args = payload("start", [("alert", #"{"title":{"loc-key":"T","loc-args":["\#(text)"]},"body":"Tonight"}"#)])
        #expect(kinds(args, isSpoilerFree: true) == (isFound ? [.spoiler] : []))
    }
}
