import Testing

@testable import lanekeeper

@Suite struct TerminalTextTests {
    @Test(
        arguments: [
            ("q", [.character("q")]), ("\r", [.enter]), ("\n", [.enter]), ("\u{1b}[A", [.up]), ("\u{1b}OB", [.down]),
            ("\u{1b}[C\u{1b}[D", [.right, .left]), ("\u{1b}[1;5Ax", [.other, .character("x")]),
            ("\u{1b}[15~1", [.other, .character("1")]), ("é語x", [.other, .other, .character("x")]), ("\u{7}", [.other]),
            ("\u{1b}q", [.escape, .character("q")]),
        ] as [(String, [Key])])
    func `keys are read, however their bytes are cut`(bytes: String, keys: [Key]) {
        let bytes = Array(bytes.utf8)
        var decoder = KeyDecoder()
        #expect(decoder.take(bytes) == keys)
        for cut in 0...bytes.count {
            #expect(decoder.take(bytes[..<cut]) + decoder.take(bytes[cut...]) == keys)
        }
        #expect(decoder.pause().isEmpty)
    }

    @Test func `an escape alone is a key once nothing follows; a sequence without end is forgotten`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0x1b]).isEmpty)
        #expect(decoder.pause() == [.escape])
        #expect(decoder.take(Array("\u{1b}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 40)).isEmpty)
        #expect(decoder.take(Array("q".utf8)) == [.character("q")])
    }

    @Test func `text is cut and filled by columns: wide characters take two, combining ones none`() {
        #expect("abc".columns == 3 && "横浜".columns == 4 && "e\u{301}".columns == 1 && "⚽️".columns == 2)
        #expect("横浜".clipped(to: 3) == "横" && "abc".clipped(to: 5) == "abc" && "abc".clipped(to: 0) == "")
        #expect("Sacramento".shortened(to: 5, mark: "…") == "Sacr…" && "ab".shortened(to: 1, mark: "…") == "a")
        #expect("7".padded(to: 3, right: true) == "  7" && "7".padded(to: 3) == "7  ")
        let line = Line(Span("横浜", .strong), Span("ab"))
        #expect(line.fitted(to: 5) == Line(Span("横浜", .strong), Span("a")))
        #expect(line.fitted(to: 1).text == " ")
        #expect(line.fitted(to: 8).columns == 8)
    }

    @Test func `nothing that a name holds can steer the terminal`() {
        #expect(Span("A\u{1b}[2J\u{9b}B\u{202e}\n").text == "A?[2J?B??")
    }

    @Test func `a screen is painted once; then only the rows that changed, and everything after a change of size`() {
        let size = ScreenSize(columns: 10, rows: 3)
        var painter = ScreenPainter(palette: Palette(hasColour: true))
        let first = painter.paint([Line("one"), Line("two", .alert)], on: size)
        #expect(first == "\u{1b}[0m\u{1b}[2J\u{1b}[1;1Hone\u{1b}[K\u{1b}[2;1H\u{1b}[1;33mtwo\u{1b}[0m\u{1b}[K")
        #expect(painter.paint([Line("one"), Line("two", .alert)], on: size) == "")
        #expect(painter.paint([Line("one")], on: size) == "\u{1b}[2;1H\u{1b}[K")
        #expect(painter.paint([Line("one"), Line(), Line("0123456789")], on: size) == "\u{1b}[3;1H0123456789")
        let other = painter.paint([Line("one")], on: ScreenSize(columns: 9, rows: 2))
        #expect(other == "\u{1b}[0m\u{1b}[2J\u{1b}[1;1Hone\u{1b}[K")
    }

    @Test func `NO_COLOR: styles are told apart by weight and reversal alone`() {
        let styles: [Style] = [.plain, .strong, .faint, .heading, .picked, .alert, .good]
        let codes = styles.flatMap { Palette(hasColour: false).code(of: $0).split(separator: ";") }
        #expect(codes.allSatisfy { ["1", "2", "7"].contains($0) })
    }

    @Test func `where the view can be drawn, and in which characters`() {
        #expect(Terminal.obstacle(in: ["TERM": "xterm"]) != nil)  // standard output of a test is no terminal
        #expect(Terminal.isUTF8(in: ["LANG": "en_US.UTF-8"]) && Terminal.isUTF8(in: ["LC_ALL": "C.utf8", "LANG": "C"]))
        #expect(!Terminal.isUTF8(in: ["LC_ALL": "C", "LANG": "en_US.UTF-8"]) && !Terminal.isUTF8(in: [:]))
    }
}
