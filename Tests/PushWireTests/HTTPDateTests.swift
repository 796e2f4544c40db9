import Testing

@testable import PushWire

/// RFC 9110, 5.6.7; for the comparison of clocks (G4).
@Suite struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"), (1_795_000_000, "Wed, 18 Nov 2026 11:06:40 GMT"),
    ])
    func `G4: a date is its Unix second, both ways`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: seconds) == text)
        #expect(HTTPDate.unixSeconds(text) == seconds)
    }

    @Test func `G4: every day of four centuries goes both ways`() {
        for day in stride(from: 0, to: 146_097, by: 13) as StrideTo<Int64> {
            let seconds = day * 86_400 + day % 86_400
            #expect(HTTPDate.unixSeconds(HTTPDate.text(unixSeconds: seconds)) == seconds)
        }
    }

    @Test(arguments: [
        "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
    ])
    func `G4: what is no date of that form says nothing`(text: String) {
        #expect(HTTPDate.unixSeconds(text) == nil)
    }
}
