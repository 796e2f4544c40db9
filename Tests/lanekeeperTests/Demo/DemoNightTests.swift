import CardRules
import Foundation
import Testing

@testable import lanekeeper

@Suite struct DemoNightTests {
    private func night(_ text: String) throws -> DemoNight {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("lanekeeper-night-\(ProcessInfo.processInfo.globallyUniqueString).ndjson")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try DemoNight(DemoOptions(["--slate", file.path]))
    }

    @Test func `demo: lines of one time that follow each other are one tick, and ticks are in order`() throws {
        let lines = [(5, "a"), (5, "b"), (3, "a"), (9, "c")].map {
            #"{"t":\#($0.0),"type":"score","game":"\#($0.1)"}"#
        }
        let night = try night(lines.joined(separator: "\n"))
        #expect(night.ticks.map(\.at.unixSeconds) == [3, 5, 9] && night.ticks.map(\.lines.count) == [1, 2, 1])
        #expect(night.games == 3 && night.lines == 4 && night.rejected == 0 && night.faults.isEmpty)
    }

    @Test func `demo: very many bad lines are all counted, and the first are told`() throws {
        let night = try night(
            String(repeating: "x\n", count: 1500) + #"{"t":1,"type":"score","game":"g"}"#)
        #expect(night.rejected == 1500 && night.lines == 1)
        #expect(night.faults.count == 1001)
        #expect(night.faults.first?.hasSuffix(".ndjson:1: \"x\" cannot stand here (column 1)") == true)
        #expect(
            night.faults.last?.hasSuffix(": 1500 lines in all cannot be used, of which these are the first") == true)
    }

    @Test func `demo: a byte order mark costs no line`() throws {
        let night = try night("\u{feff}" + #"{"t":1,"type":"score","game":"g"}"#)
        #expect(night.lines == 1 && night.rejected == 0)
    }

    @Test func `names of a slate cannot write to the terminal`() {
        let game = GameID(unchecked: "g")
        var patch = GamePatch(game: game, at: WallTime(seconds: 1))
        patch.home = .value("\u{1b}[2JBo\nston")
        patch.away = .value("\u{202e}abc\0")
        #expect(GameNames([.game(patch)])[game] == "?abc? at ?[2JBo?ston")
    }

    @Test func `demo: without a file the night is made up, the same for the same seed`() throws {
        let (one, same) = (try DemoNight(DemoOptions(["--seed", "7"])), try DemoNight(DemoOptions(["--seed", "7"])))
        let other = try DemoNight(DemoOptions(["--seed", "8"]))
        #expect(one.games == 12 && one.ticks.map(\.lines) == same.ticks.map(\.lines))
        #expect(one.ticks.map(\.lines) != other.ticks.map(\.lines))
    }
}
