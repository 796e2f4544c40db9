import CardRules
import Intake
import Testing

@Suite struct JSONDocumentTests {
    @Test func `JSON: a pointer leads to the value as it was written`() throws {
        let text = "{\n  a: [1, { 'b/c~': \"x\" }],\n  d: null }"
        let document = try JSONDocument(Array(text.utf8), dialect: .lenient)
        func written(_ steps: String...) -> String? {
            document.range(of: JSONPointer(steps)).map { String(decoding: document.bytes[$0], as: UTF8.self) }
        }
        #expect(written() == text)
        #expect(written("a") == "[1, { 'b/c~': \"x\" }]")
        #expect(written("a", "0") == "1" && written("a", "1", "b/c~") == "\"x\"" && written("d") == "null")
        #expect(written("a", "2") == nil && written("a", "0", "b") == nil && written("e") == nil)
        #expect(JSONPointer(["a", "1", "b/c~"]).description == "/a/1/b~1c~0" && JSONPointer.root.description == "")
    }

    @Test func `JSON: the line of a value, and of what stands around one that is missing`() throws {
        let document = try JSONDocument(Array("{\n\"a\": {\n\"b\":\n[1,\n2]}}".utf8))
        #expect(document.line(of: .root) == 1 && document.line(of: JSONPointer(["a"])) == 2)
        #expect(
            document.line(of: JSONPointer(["a", "b"])) == 4 && document.line(of: JSONPointer(["a", "b", "1"])) == 5)
        #expect(document.line(of: JSONPointer(["a", "x", "y"])) == 2 && document.line(of: JSONPointer(["z"])) == 1)
    }

    @Test(arguments: [
        ("settelSeconds", "settleSeconds"), ("SettleSeconds", "settleSeconds"), ("settle", nil),
        ("margnPoints", "marginPoints"), ("", nil), ("benchSecond", "benchSeconds"),
    ])
    func `a name: the nearest is named, and none that is far`(name: String, nearest: String?) {
        #expect(nearestName(to: name, among: ["marginPoints", "settleSeconds", "benchSeconds"]) == nearest)
    }
}
