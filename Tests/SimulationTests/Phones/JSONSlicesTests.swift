import Testing

@testable import Simulation

@Suite struct JSONSlicesTests {
    @Test func `members are found as bytes, the last of a repeated key`() {
        let slices = JSONSlices(Array(#" {"a":{"b":[1,2,{"c":"}"}]},"n":-12,"f":1.5e2,"s":"x","n":7} "#.utf8))
        #expect(slices?["a"].map { String(decoding: $0, as: UTF8.self) } == #"{"b":[1,2,{"c":"}"}]}"#)
        #expect(slices?.integer("n") == 7)
        #expect(slices?.number("f") == 150)
        #expect(slices?.plainText("s") == "x")
        #expect(slices?["z"] == nil)
    }

    @Test(arguments: [
        "", "[]", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":01}", "{\"a\":1,}", "{\"a\":\"\n\"}", "{\"a\":tru}",
        "{\"a\":[1 2]}", "{\"a\":\"\\",
    ])
    func `what is no JSON object is refused`(text: String) {
        #expect(JSONSlices(Array(text.utf8)) == nil)
    }
}
