import Intake
import Operations
import TLS
import Testing

@testable import lanekeeper

@Suite struct KeyCommandTests {
    private let secret = [UInt8](0..<32)

    @Test func `key new: the key, and the line of the configuration that knows only its digest`() throws {
        let lines = try KeyCommand(["new", "--scope", "feed", "--scope", "admin", "--name", "ops"]).lines(
            secret: secret)
        #expect(lines.count == 2)
        #expect(lines[0] == "lk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        #expect(!lines[1].contains(lines[0]))
        var sources = ConfigurationSources()
        sources.file = .init(path: "f", bytes: Array("{ http: { keys: [\n\(lines[1])\n] } }".utf8))
        let key = try Configuration.read(sources, readFile: { _ in [] }).configuration.http.keys.first
        #expect(key?.name == "ops" && key?.scopes == [.feed, .admin])
        #expect(key?.sha256.value == sha256(Array(lines[0].utf8)))
    }

    @Test func `key new: as JSON, with scopes in one word, and a name from them`() throws {
        let lines = try KeyCommand(["new", "--scope", "feed,devices", "--json"]).lines(secret: secret)
        #expect(lines.count == 1 && lines[0].hasPrefix("{\"key\":\"lk_"))
        #expect(lines[0].contains("\"name\":\"feed-devices\",\"scopes\":[\"feed\",\"devices\"]"))
    }

    @Test(arguments: [
        [], ["old"], ["new"], ["new", "--scope", "root"], ["new", "--scope", "feed", "--name", "a b"], ["new", "--x"],
    ])
    func `key: used wrongly it says how`(words: [String]) {
        #expect(throws: WrongUse.self) { try KeyCommand(words) }
    }

    @Test func `key new: no two keys are the same`() throws {
        #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(try SecureRandom.bytes(32).count == 32)
    }
}
