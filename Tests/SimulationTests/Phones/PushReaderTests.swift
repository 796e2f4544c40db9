import CardRules
import Foundation
import Testing

@testable import Simulation

/// The reader takes content apart to decode each game once; what comes out is what a default decoder gives.
@Suite struct PushReaderTests {
    private static let game =
        #"{"id":"g1","sport":"hockey","league":"NHL","home":"B\u00f6ston","away":"New York","phase":"live","period":1,"clock":"19:50","homeScore":0,"awayScore":1,"detail":{"shots":[3,4],"emptyNet":null}}"#

    @Test(arguments: [
        #"{"games":[\#(game)],"front":"g1","spoilerFree":false,"asOf":1794700810}"#,
        #" { "asOf" : 1794700810 , "games" : [ \#(game) , {"id":"g2","sport":"golf","home":"a","away":"b","phase":"pre"} ] , "front" : "g1", "spoilerFree" : true } "#,
        #"{"games":[],"front":"g1","spoilerFree":false,"asOf":1.79470081e9}"#,
        #"{"games":[\#(game)],"front":"\u0067","spoilerFree":false,"asOf":1794700810,"more":{}}"#,
        #"{"games":[{"id":"g1"}],"front":"g1","spoilerFree":false,"asOf":1794700810}"#,
        #"{"games":[null],"front":"g1","spoilerFree":false,"asOf":1794700810}"#,
        #"{"games":{},"front":"g1","spoilerFree":false,"asOf":1794700810}"#,
        #"{"games":[],"front":null,"spoilerFree":false,"asOf":1794700810}"#,
        #"{"games":[],"front":"a b","spoilerFree":false,"asOf":1794700810}"#,
        #"{"games":[],"front":"g1","spoilerFree":"false","asOf":1794700810}"#,
        #"{"games":[],"front":"g1","spoilerFree":false}"#,
    ])
    func `P11: content is read as a default decoder reads it, twice the same`(content: String) {
        let expected = try? JSONDecoder().decode(SlateContent.self, from: Data(content.utf8))
        let push = Sample.push(Array(#"{"aps":{"content-state":\#(content)}}"#.utf8), number: 1, priority: 10)
        var reader = PushReader()
        #expect(reader.read(push).content == expected)
        #expect(reader.read(push).content == expected)
    }
}
