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

    @Test func `gateway: a port beyond all ports is told with the last one`() {
        #expect(throws: WrongUse("--control takes a whole number from 0 to 65535, not 70000")) {
            try GatewayCommandOptions(["--control", "70000"])
        }
    }

    @Test(.enabled(if: BuiltProgram.url != nil))
    func `gateway: a certificate that cannot be written is told in words`() async throws {
        try await BuiltProgram.inFolder { folder in
            let words = [
                "gateway", "--production", "0", "--sandbox", "0", "--control", "0", "--certificate-out", "no/c.pem",
            ]
            let outcome = try await BuiltProgram.run(words, in: folder)
            #expect(outcome.code == 1)
            #expect(
                outcome.errors == [
                    "lanekeeper: no/c.pem cannot be written: is there such a folder, and may it be written to?"
                ])
        }
    }
}
