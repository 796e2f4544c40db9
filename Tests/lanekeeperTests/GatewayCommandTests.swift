import Testing

@testable import lanekeeper

@Suite struct GatewayCommandTests {
    @Test func `gateway takes its options`() throws {
        let options = try GatewayCommandOptions([
            "--production", "0", "--sandbox", "9001", "--control", "9002", "--streams", "50", "--requests", "7",
            "--seed", "3",
            "--certificate-out", "c.pem", "--provider-key", "k.p8", "--key-id", "K", "--team-id", "T",
        ])
        #expect(options.productionPort == 0 && options.sandboxPort == 9001 && options.controlPort == 9002)
        #expect(options.streams == 50 && options.requestsKept == 7 && options.seed == 3)
        #expect(options.certificateOut == "c.pem" && options.providerKeyFile == "k.p8")
    }

    @Test(arguments: [
        ["--production", "70000"], ["--certificate", "a"], ["--provider-key", "a"], ["--streams", "0"], ["--frob"],
        ["--control"],
    ])
    func `gateway used wrongly is told how`(words: [String]) {
        #expect(throws: WrongUse.self) { try GatewayCommandOptions(words) }
    }
}
