import Testing

@testable import Operations

@Suite struct ConfiguredValueTests {
    @Test(arguments: [
        ("127.0.0.1:8480", "127.0.0.1", UInt16(8480)), ("[::1]:0", "::1", 0), ("localhost:1", "localhost", 1),
        (":80", "0.0.0.0", 80), ("[fe80::1%eth0]:5", "fe80::1%eth0", 5),
    ])
    func `an address is a host and a port`(text: String, host: String, port: UInt16) {
        #expect(HostPort(text) == HostPort(host: host, port: port))
    }

    @Test(arguments: ["", "127.0.0.1", "::1:80", "a:", "a:+1", "a:65536", "a b:1", "[a]:1", "[::1]", "a/b:1", "x:1:2"])
    func `what is no address is none`(text: String) { #expect(HostPort(text) == nil) }

    @Test func `a gateway's URL is https, with or without a port`() {
        #expect(GatewayURL("https://api.push.apple.com")?.port == 443)
        #expect(GatewayURL("https://localhost:8443/").map { "\($0)" } == "https://localhost:8443")
        #expect(GatewayURL("https://[::1]:8443").map { "\($0)" } == "https://[::1]:8443")
        for bad in ["http://a", "https://", "https://a/b", "https://:443", "https://a:0", "a"] {
            #expect(GatewayURL(bad) == nil, "\(bad)")
        }
    }

    @Test func `a store's URL is a file or a database`() {
        #expect(StoreURL("sqlite:a.db") == .sqlite(path: "a.db"))
        #expect(StoreURL("sqlite:///var/a.db") == .sqlite(path: "/var/a.db"))
        #expect(StoreURL("postgresql://h/d") == .postgres("postgresql://h/d"))
        for bad in ["", "sqlite:", "postgres://", "a.db", "mysql://a"] { #expect(StoreURL(bad) == nil, "\(bad)") }
    }

    @Test func `a relative path counts from the folder of the file that names it`() {
        #expect(ConfiguredFile(written: "k.p8", below: "/etc/lk").path == "/etc/lk/k.p8")
        #expect(ConfiguredFile(written: "/k.p8", below: "/etc/lk").path == "/k.p8")
        #expect(ConfiguredFile(written: "k.p8", below: "").path == "k.p8")
    }
}
