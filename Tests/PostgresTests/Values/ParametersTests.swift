import Testing

@testable import Postgres

@Suite struct ParametersTests {
    @Test func `values are in network order, one behind the other`() {
        var parameters = PostgresParameters()
        parameters.int16(-2)
        parameters.null()
        parameters.int32(258)
        parameters.int64(1)
        parameters.text("é")
        parameters.bytea([])
        parameters.bool(true)
        #expect(
            parameters.bytes == [0xFF, 0xFE, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0xC3, 0xA9, 1])
        #expect(parameters.ranges == [0..<2, nil, 2..<6, 6..<14, 14..<16, 16..<16, 16..<17])
        parameters.removeAll()
        #expect(parameters.count == 0)
    }

    @Test func `an array has its head, and each element its length`() {
        var parameters = PostgresParameters()
        parameters.int16(7)
        parameters.array(of: .text, ["a", nil, ""]) { value, element in if let value { element.text(value) } }
        #expect(
            parameters.bytes == [
                0, 7,
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 3, 0, 0, 0, 1,
                0, 0, 0, 1, 0x61, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0,
            ])
        #expect(parameters.ranges == [0..<2, 2..<35])
    }

    @Test func `an array without NULL says so, and one without elements has no dimension`() {
        var parameters = PostgresParameters()
        parameters.array(of: .int8, [Int64(5)]) { $1.int64($0) }
        parameters.array(of: .int8, [Int64]()) { $1.int64($0) }
        #expect(
            parameters.bytes == [
                0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 5,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20,
            ])
    }
}
