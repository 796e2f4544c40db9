import Postgres
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        "postgres://keeper:s3cret@db.example:5433/games?sslmode=verify-full&sslpassword=s3cret",
        "host=db.example port=5433 user=keeper password=s3cret sslpassword=s3cret dbname=games sslmode=verify-full",
    ])
    func `an address shows where, and never its passwords`(text: String) throws {
        let address = try PostgresAddress(text)
        var dumped = ""
        dump(address, to: &dumped)
        for shown in ["\(address)", String(reflecting: address), dumped, "\([address])", "\(address.recommended)"] {
            #expect(!shown.contains("s3cret"), "\(shown)")
            #expect(shown.contains("db.example"))
        }
        #expect(address["password"] == nil)
        #expect(address["host"] == "db.example")
        #expect(address["sslmode"] == "verify-full")
        #expect(address["port"] == "5433")
    }

    @Test(arguments: [
        "postgres://keeper:s3@s3cret@h/db", "postgres://keeper:s3@h:s3cret@h/db", "password=abc s3cret host=h",
        "postgres://h/db?s3cret=1", "host=h\0s3cret", "postgres://keeper:a/s3cret@h/db",
    ])
    func `what libpq does not take is refused without a word of it`(text: String) {
        let error = #expect(throws: PostgresError.badAddress) { _ = try PostgresAddress(text) }
        #expect(!"\(error.map { "\($0)" } ?? "")".contains("s3cret"))
    }

    @Test func `recommended options give way to those of the address`() throws {
        let address = try PostgresAddress("postgres://a,b/games?connect_timeout=7&application_name=mine").recommended
        #expect(address["connect_timeout"] == "7")
        #expect(address["application_name"] == "mine")
        #expect(address["target_session_attrs"] == "read-write")
        #expect(address["tcp_user_timeout"] == "3000")
        #expect(address["keepalives_idle"] == "5")
        #expect(address["keepalives_interval"] == "2")
        #expect(address["keepalives_count"] == "3")
        #expect(address["host"] == "a,b")
    }

    @Test func `names and values in SQL are quoted`() {
        #expect(PostgresText.identifier("a\"b") == "\"a\"\"b\"")
        #expect(PostgresText.literal("it's") == "'it''s'")
        #expect(PostgresText.literal("a\\'b") == " E'a\\\\''b'")
    }
}

@Suite struct NextStepTests {
    @Test(arguments: [
        ("40001", PostgresNextStep.repeatNow), ("40P01", .repeatNow), ("55P03", .repeatLater), ("57014", .repeatLater),
        ("53300", .backOffAndAlarm), ("58030", .backOffAndAlarm), ("25006", .reconnect), ("57P01", .reconnect),
        ("57P02", .reconnect), ("57P03", .reconnect), ("08006", .reconnect), ("LK001", .fenced), ("42P01", .stop),
        ("23505", .stop), ("22023", .stop), ("57000", .stop),
    ])
    func `a SQLSTATE says what to do`(state: String, step: PostgresNextStep) {
        let error = PostgresError.server(PostgresServerError(sqlState: state, message: ""))
        #expect(error.nextStep == step)
        #expect(error.outcome == .notDone)
        #expect(!error.endsConnection)
    }

    @Test func `a loss leaves the outcome open, and so does a report with which the server ends the session`() {
        let fatal = PostgresError.server(PostgresServerError(sqlState: "57P01", isFatal: true, message: ""))
        for error in [fatal, .lost(""), .silent(milliseconds: 1), .closed] {
            #expect(error.outcome == .unknown)
            #expect(error.endsConnection)
        }
        #expect(PostgresError.unreachable("").outcome == .notDone)
        #expect(PostgresError.unreachable("").nextStep == .reconnect)
    }

    @Test func `waits begin at 50 ms, double, end at 2 s, and spread over their upper half`() {
        var least = PostgresBackoff()
        var most = PostgresBackoff()
        let low = (0..<8).map { _ in least.next(random: 0) }
        let high = (0..<8).map { _ in most.next(random: .max) }
        #expect(low == [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1, 1])
        for (low, high) in zip(low, high) { #expect(high > low * 1.999 && high <= low * 2) }
        for _ in 0..<1000 { _ = most.next(random: 7) }
        #expect(most.next(random: 0) == 1)
        most.reset()
        #expect(most.next(random: 0) == 0.025)
    }
}
