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

    @Test func `the elements of an array are found as bytes, and truth as what it is`() {
        let slices = JSONSlices(Array(#"{"l":[1, {"a":[]} ,"]"],"e":[ ],"t":true,"f":false,"n":null}"#.utf8))
        #expect(
            slices?.elements("l").map { $0.map { String(decoding: $0, as: UTF8.self) } } == [
                "1", #"{"a":[]}"#, #""]""#,
            ])
        #expect(slices?.elements("e")?.isEmpty == true && slices?.elements("t") == nil && slices?.elements("z") == nil)
        #expect(slices?.bool("t") == true && slices?.bool("f") == false && slices?.bool("n") == nil)
    }

    @Test(arguments: [
        "", "[]", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":01}", "{\"a\":1,}", "{\"a\":\"\n\"}", "{\"a\":tru}",
        "{\"a\":[1 2]}", "{\"a\":\"\\",
    ])
    func `what is no JSON object is refused`(text: String) {
        #expect(JSONSlices(Array(text.utf8)) == nil)
    }
}
