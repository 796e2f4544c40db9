import CardRules
import Intake
import Testing

@Suite struct TuningTextTests {
    private func fault(_ text: String) -> String? {
        do throws(TuningTextFault) {
            _ = try TuningText.read(Array(text.utf8))
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        "{ takeover: { settleSeconds: 40, boosts: { upset: .5, } }, night: { rollsAt: '05:30' } } // bare",
        "{ tuning: { takeover: { settleSeconds: 40, boosts: { upset: 0.5 } }, night: { rollsAt: '05:30' } } }",
        "{ store: { url: 'x' }, tuning: { takeover: { settleSeconds: 4e1, boosts: { upset: 0.5 } }, night: { rollsAt: '05:30' } } }",
    ])
    func `tuning: values are read bare, under tuning, or out of a whole configuration`(text: String) throws {
        var expected = Tuning()
        expected.takeover.settleSeconds = 40
        expected.takeover.boosts.upset = 0.5
        expected.night.rollsAtMinute = 330
        #expect(try TuningText.read(Array(text.utf8)) == expected)
    }

    @Test func `tuning: nothing given is the defaults`() throws {
        #expect(try TuningText.read(Array("{}".utf8)) == Tuning())
        #expect(try TuningText.read(Array("{ tuning: {} }".utf8)) == Tuning())
    }

    @Test(arguments: [
        (
            "{\n takeover: {\n  settelSeconds: 40 } }",
            "3: tuning.takeover.settelSeconds: no such key; takeover.settleSeconds?"
        ),
        ("{\n\n nonsense: 1 }", "3: tuning.nonsense: no such key"),
        ("{ tuning: {\n card: { maxGames: 0 } } }", "2: tuning.card.maxGames: must be a whole number, 1 to 20"),
        ("{\n takeover: { marginPoints: '8' } }", "2: tuning.takeover.marginPoints: must be a number"),
        ("{\n takeover: 5 }", "2: tuning.takeover: must be an object"),
        ("{\n night: { rollsAt: '6' } }", "2: tuning.night.rollsAt: must be HH:MM, \"00:00\" to \"23:59\""),
        (
            "{\n gateway: {\n tokenMaxSeconds: 5 } }",
            "2: tuning.gateway.tokenMinSeconds: must be at most gateway.tokenMaxSeconds, 5.0"
        ),
        ("{\n tuning: {},\n takeover: {} }", "3: takeover: belongs inside tuning"),
        ("{\n takeover: { settleSeconds 40 } }", "2: \"4\" cannot stand here (column 28)"),
        ("[]", "1: tuning: must be an object"),
    ])
    func `tuning: a fault names the line and the key, and the nearest there is`(text: String, expected: String) {
        #expect(fault(text) == expected)
    }
}
