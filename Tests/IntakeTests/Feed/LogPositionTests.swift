import Testing

@testable import Intake

@Suite struct LogPositionTests {
    @Test(arguments: [("0/0", UInt64(0)), ("16/B374D848", 0x16_B374_D848), ("FFFFFFFF/FFFFFFFF", .max)])
    func `a position is read and written as the server does`(text: String, value: UInt64) {
        #expect(LogPosition(text)?.rawValue == value)
        #expect(LogPosition(value).description == text)
    }

    @Test(arguments: ["", "0", "0/", "/0", "0/0/0", "x/1", "100000000/0", "0/ 1"])
    func `anything else is no position`(text: String) {
        #expect(LogPosition(text) == nil)
    }
}
