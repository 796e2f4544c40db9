import Foundation
import Glibc
import Testing

@testable import lanekeeper

/// The live view as a person sees it: the built program under a pseudo-terminal, judged by what stands on the screen.
@Suite(.enabled(if: BuiltProgram.url != nil, "the program was not built"), .serialized, .timeLimit(.minutes(3)))
struct LiveDemoTests {
    /// So slow that the night outlasts any test: an hour before its end only `q` or a signal ends it.
    private func start(
        _ arguments: [String] = [], columns: Int = 80, rows: Int = 24, _ environment: [String: String] = [:]
    )
        throws -> TerminalRun
    {
        try TerminalRun(
            try #require(BuiltProgram.url), ["demo", "--phones", "12", "--seed", "5"] + arguments, columns: columns,
            rows: rows, environment: environment)
    }

    /// `00:27:38` of the first row.
    private func time(_ screen: TerminalScreen) -> String? {
        screen.lines.first.flatMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    }

    @Test func `the night stands on the screen, keys do what they say, and it leaves as it came`() throws {
        let run = try start(["--speed", "max"])
        try run.until("cards") { $0.text.contains("▶ ") && $0.text.contains(" T3 ") }
        #expect(run.screen.isAlternate && run.screen.isCursorHidden)
        #expect(run.screen.lines[0].hasPrefix("Lanekeeper  "))
        #expect(run.screen.lines[1].contains("pushes ") && run.screen.lines[1].contains("/s  verdicts "))
        #expect(run.screen.lines[2].hasPrefix("Ranking"))
        #expect(run.screen.text.contains("[1 d") && run.screen.text.contains(" spoiler-free ─"))
        #expect(run.screen.text.contains("── Takeovers ─"))

        // It stands still while it is paused: nothing on the screen changes but the counts by the second.
        run.type("p")
        try run.until("the pause") { $0.lines[0].contains("  paused ") }
        try run.until("what was under way") { $0.lines[1].hasPrefix("pushes 0/s  verdicts 0/s") }
        let standing = time(run.screen)

        run.type("2")
        try run.until("the second phone picked") { $0.text.contains("[2 d") }
        let rest = run.screen.text.split(separator: "[2 ").last.map(String.init) ?? ""
        let name = String(rest.prefix { $0 != "]" })
        run.type("d")
        try run.until("its decisions") {
            $0.text.contains("── Last decisions of \(name) ─") && $0.text.contains("S4  start     a game was added")
        }
        run.type("x")
        try run.until("its lane killed") {
            $0.lines[23].contains("the lane of \(name) was killed and goes on from the store")
        }
        run.type("m")
        try run.until("a moment made up") {
            $0.lines[23].hasPrefix("made up for \(name): shootout of ")
                && $0.text.contains("T1  moment    made up: shootout of ")
        }
        run.type("?")
        try run.until("the keys") { $0.text.contains("x                  kill its lane") }
        run.type("\u{1b}")
        try run.until("back") { $0.text.contains("── Takeovers ─") }
        #expect(time(run.screen) == standing)

        run.type("\u{1b}[B")
        try run.until("the next phone") { $0.text.contains("[3 d") }
        run.type(" ")
        try run.until("the night going on") { time($0) != standing && !$0.lines[0].contains("  paused ") }

        run.type("q")
        let code = try run.untilEnded()
        #expect(code == 0)
        #expect(!run.screen.isAlternate && !run.screen.isCursorHidden && run.isAsBefore)
        #expect(run.screen.printed.contains("before the night was over"))
        #expect(run.screen.printed.contains("by hand      lanes killed 1, moments made up 1"))
        #expect(run.screen.printed.contains("violations   none"))
        #expect(run.screen.strange.isEmpty)
    }

    @Test func `it follows its window: larger, smaller, too small, and back, with nothing of the old screen left`()
        throws
    {
        let run = try start(["--speed", "60"])
        try run.until("a screen, and the night's games") { $0.lines[23].contains("q quit") && $0.text.contains(" at ") }
        run.type("p")
        try run.until("the pause") { $0.lines[0].contains("  paused ") && $0.lines[1].hasPrefix("pushes 0/s") }
        let narrow = run.screen.lines
        run.resize(columns: 132, rows: 50)
        try run.until("the larger screen") { $0.lines[49].contains("q quit") && $0.text.contains("─ 5 d") }
        #expect(run.screen.lines.count { $0.contains("q quit") } == 1)
        run.resize(columns: 40, rows: 8)
        try run.until("that it is too small") { $0.lines[1] == "60 x 18 is needed, this is 40 x 8" }
        let below = run.screen.lines[3...]
        #expect(below.allSatisfy { $0.isEmpty })
        run.resize(columns: 80, rows: 24)
        try run.until("the first screen again") { $0.lines == narrow }
        run.type("q")
        let code = try run.untilEnded()
        #expect(code == 0 && run.screen.strange.isEmpty && run.isAsBefore)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `asked to stop it leaves in order, also while it is paused`(number: Int32) throws {
        let run = try start()
        try run.until("a screen") { $0.lines[23].contains("q quit") }
        if number == SIGTERM {
            run.type("p")
            try run.until("the pause") { $0.lines[0].contains("  paused ") }
        }
        #expect(!run.isAsBefore)
        kill(run.process.processIdentifier, number)
        let code = try run.untilEnded()
        #expect(code == 0)
        #expect(!run.screen.isAlternate && !run.screen.isCursorHidden && run.isAsBefore)
        #expect(run.screen.printed.contains("before the night was over"))
    }

    @Test func `killed without warning its guard gives the terminal back`() throws {
        let run = try start()
        try run.until("a screen") { $0.lines[23].contains("q quit") }
        kill(run.process.processIdentifier, SIGKILL)
        try run.until("the terminal as it was") {
            !$0.isAlternate && !$0.isCursorHidden && run.isAsBefore
        }
        #expect(try run.untilEnded() == SIGKILL)
    }

    @Test(arguments: [["TERM": "dumb"], ["TERM": ""]])
    func `where text cannot be placed, or nobody looks, there are plain lines`(environment: [String: String]) throws {
        let run = try start(["--speed", "max"], environment)
        try run.until("a line") { $0.printed.contains("front changes") }
        kill(run.process.processIdentifier, SIGTERM)
        _ = try run.untilEnded()
        #expect(run.screen.strange.isEmpty && !run.screen.printed.contains("Lanekeeper") && run.isAsBefore)
    }

    @Test func `without UTF-8 it is drawn in ASCII, and NO_COLOR is heeded`() throws {
        let run = try start(["--speed", "max"], ["LANG": "C", "NO_COLOR": "1"])
        try run.until("cards") { $0.text.contains("| > ") && $0.text.contains("+-[1 d") }
        #expect(run.screen.text.utf8.allSatisfy { $0 < 0x80 })
        #expect(!run.screen.hasColour)
        run.type("q")
        #expect(try run.untilEnded() == 0)
    }
}
