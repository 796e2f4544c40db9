import CardRules
import Foundation
import TLS
import Testing

@testable import PushPool

@Suite struct ConfigurationTests {
    private typealias Key = PushPool.Configuration.Key
    private static let pem = Result { try SigningKey.freshPEM() }

    private static func key(_ keyID: String, _ teamID: String = "TEAM123456") throws -> Key {
        Key(pem: try pem.get(), keyID: keyID, teamID: teamID)
    }

    @Test func `G6: one group a gateway, team and key; apps with one key share it, others never do`() throws {
        let gateways: [Gateway: PushPool.Configuration.Endpoint] = [
            .production: .init(host: "a"), .sandbox: .init(host: "b"),
        ]
        let shared = try Self.key("KEY1234567")
        let configuration = PushPool.Configuration(
            gateways: gateways,
            keys: .ofApps([
                .init(bundleID: "one", key: shared), .init(bundleID: "two", key: shared),
                .init(
                    bundleID: "three",
                    keys: [.production: try Self.key("KEYPROD999"), .sandbox: try Self.key("KEYSAND999")]),
                .init(bundleID: "four", keys: [.production: try Self.key("KEY1234567", "TEAM999999")]),
            ]))
        let (keys, plan) = configuration.plan()
        #expect(keys.count == 4 && plan.keys == 4)
        #expect(plan.groups.count == 5, "two for the shared key, one a gateway for the third app, one for the fourth")
        let suffix = ".push-type.liveactivity"
        for gateway in Gateway.allCases {
            let routes = plan.routes[gateway] ?? [:]
            #expect(routes["one" + suffix] == routes["two" + suffix])
            #expect(routes["one" + suffix] != routes["three" + suffix])
            #expect((routes["four" + suffix] == nil) == (gateway == .sandbox))
            for (_, group) in routes { #expect(plan.groups[group].gateway == gateway) }
        }
    }

    @Test func `G8: a quarter of the connections, at least one, is for unconfirmed addresses; one alone is shared`() {
        for (all, confirmed, unconfirmed) in [(1, 1, 1), (2, 1, 1), (4, 3, 1), (8, 6, 2)] {
            var limits = GroupState.Limits()
            limits.connections = all
            let group = GroupState(index: 0, gateway: .production, key: 0, keyID: "K", limits: limits)
            #expect(group.most(.confirmed) == confirmed && group.most(.unconfirmed) == unconfirmed)
            #expect((group.home(of: .unconfirmed) == .confirmed) == (all == 1))
        }
    }

    @Test(arguments: [
        ("KEY123456", "TEAM123456"), ("KEY1234567", "team123456"), ("KEY-234567", "TEAM123456"), ("", ""),
    ])
    func `G4: ids that are none of Apple's are named at the start`(keyID: String, teamID: String) throws {
        #expect(throws: ProviderKeyFault.self) { try ReadyKey(Self.key(keyID, teamID)) }
    }

    @Test func `G4: a key file is looked at when the pool is made: readable, EC P-256, and the one that keyID names`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let good = folder.appendingPathComponent("AuthKey_KEY1234567.p8").path
        try Self.pem.get().write(toFile: good, atomically: true, encoding: .utf8)
        _ = try ReadyKey(Key(file: good, keyID: "KEY1234567", teamID: "TEAM123456"))
        let other = try Key(file: good, keyID: "KEY7654321", teamID: "TEAM123456")
        #expect(throws: ProviderKeyFault.otherKey(path: good, keyID: "KEY7654321", named: "KEY1234567")) {
            try ReadyKey(other)
        }
        #expect(throws: TLSError.self) { try Key(file: good + "x", keyID: "KEY1234567", teamID: "TEAM123456") }
        let bad = folder.appendingPathComponent("key.p8").path
        try "no key".write(toFile: bad, atomically: true, encoding: .utf8)
        let unreadable = try Key(file: bad, keyID: "KEY1234567", teamID: "TEAM123456")
        let fault = #expect(throws: ProviderKeyFault.self) { try ReadyKey(unreadable) }
        #expect(fault?.description.contains(bad) == true)
        #expect(!"\(unreadable)".contains("no key"), "a key stays out of logs")
    }
}
