internal import CardRules

/// One line of the control port, parsed.
enum GatewayCommand: Equatable, Sendable {
    case help
    case counters
    case connections
    /// The newest so many.
    case requests(Int)
    case deliveries(Int)
    case streams(Gateway?, Int)
    case goAway(Gateway?, reason: String, unprocessed: Int)
    case goAwayText(Gateway?)
    case close(Gateway?, withReset: Bool)
    case fault(Gateway?, GatewayFault)
    case clearFaults(Gateway?)
    case set(Gateway?, name: String, value: String)
    case token([UInt8], Standing)

    enum Standing: Equatable, Sendable {
        case unknown
        case dead
        case live
        case reach(DeliveryDesk.Reach)
    }

    /// What the line says is wrong with it.
    struct Fault: Error, Equatable {
        let text: String
    }

    static let usage = """
        help                                    these lines
        counters                                accepted, refused by reason, unanswered, deliveries
        connections                             open now, by gateway
        requests [N]                            the newest N (20), without their provider tokens
        deliveries [N]                          what became of the newest N (20) accepted pushes
        streams GATEWAY N                       SETTINGS: a limit of N streams, from now on
        goaway GATEWAY [REASON [N]]             GOAWAY with this reason (Shutdown); the newest N requests are dropped
        goaway-text GATEWAY                     GOAWAY with Apple's plain words instead of JSON
        close GATEWAY                           ends all connections; reset GATEWAY: with RST
        fault GATEWAY KIND [times=N] [share=X] [token=HEX]
                                                500, 503, shutdown, rst=CODE, rst-after=CODE, delay=SECONDS, lose,
                                                silence, duplicate, hangup, reset: happens to requests that match
        clear GATEWAY                           no more faults
        set GATEWAY NAME VALUE                  streams-before, throttle, errors-until-goaway, excess (refuse, goaway),
                                                wedge (never, refuse, silence), opens-per-minute, per-token, retry-after,
                                                date-offset, answer-seconds; off where it has a number
        token HEX live|unknown|dead|online|asleep|offline
        GATEWAY is production, sandbox or all. Every answer is one line of JSON.
        """

    init(_ line: String) throws(Fault) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
        guard let name = words.first else { throw Fault(text: "an empty line; try help") }
        let rest = Array(words.dropFirst())
        switch name {
        case "help": self = .help
        case "counters": self = .counters
        case "connections": self = .connections
        case "requests": self = .requests(try Self.number(rest, 0, else: 20, in: 1...10_000))
        case "deliveries": self = .deliveries(try Self.number(rest, 0, else: 20, in: 1...10_000))
        case "streams":
            guard rest.count == 2 else { throw Fault(text: "streams GATEWAY N") }
            self = .streams(try Self.gateway(rest), try Self.number(rest, 1, else: 0, in: 0...1_000_000))
        case "goaway":
            self = .goAway(
                try Self.gateway(rest), reason: rest.count > 1 ? try Self.word(rest[1]) : "Shutdown",
                unprocessed: try Self.number(rest, 2, else: 0, in: 0...1_000_000))
        case "goaway-text": self = .goAwayText(try Self.gateway(rest))
        case "close": self = .close(try Self.gateway(rest), withReset: false)
        case "reset": self = .close(try Self.gateway(rest), withReset: true)
        case "fault": self = .fault(try Self.gateway(rest), try Self.fault(rest.dropFirst()))
        case "clear": self = .clearFaults(try Self.gateway(rest))
        case "set":
            guard rest.count == 3 else { throw Fault(text: "set GATEWAY NAME VALUE") }
            self = .set(try Self.gateway(rest), name: rest[1], value: rest[2])
        case "token":
            guard rest.count == 2, let token = bytes(fromHex: rest[0]), !token.isEmpty else {
                throw Fault(text: "token HEX live|unknown|dead|online|asleep|offline")
            }
            self = .token(token, try Self.standing(rest[1]))
        default: throw Fault(text: "\(name) is no command; try help")
        }
    }

    /// `nil`: all.
    private static func gateway(_ words: [String]) throws(Fault) -> Gateway? {
        guard let word = words.first else { throw Fault(text: "which gateway? production, sandbox or all") }
        if word == "all" { return nil }
        guard let gateway = Gateway(rawValue: word) else {
            throw Fault(text: "\(word) is no gateway; production, sandbox or all")
        }
        return gateway
    }

    private static func number(
        _ words: [String], _ place: Int, else standard: Int, in range: ClosedRange<Int>
    ) throws(Fault) -> Int {
        guard words.indices.contains(place) else { return standard }
        guard let number = Int(words[place]), range.contains(number) else {
            throw Fault(text: "\(words[place]) is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Goes into JSON as it is.
    private static func word(_ text: String) throws(Fault) -> String {
        guard text.utf8.count <= 64, text.utf8.allSatisfy({ isWordByte($0) }) else {
            throw Fault(text: "a reason is at most 64 letters and digits")
        }
        return text
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }

    private static func standing(_ word: String) throws(Fault) -> Standing {
        switch word {
        case "live": .live
        case "unknown": .unknown
        case "dead": .dead
        default:
            if let reach = DeliveryDesk.Reach(rawValue: word) {
                .reach(reach)
            } else {
                throw Fault(text: "\(word) is none of live, unknown, dead, online, asleep, offline")
            }
        }
    }

    private static func fault(_ words: ArraySlice<String>) throws(Fault) -> GatewayFault {
        guard let word = words.first else { throw Fault(text: "which fault? try help") }
        let (name, value) = Self.pair(word)
        let kind: GatewayFault.Kind
        switch (name, value) {
        case ("500", nil): kind = .serverError
        case ("503", nil): kind = .unavailable
        case ("shutdown", nil): kind = .shutdown
        case ("rst", .some(let value)): kind = .reset(code: try Self.code(value))
        case ("rst-after", .some(let value)): kind = .resetAfter(code: try Self.code(value))
        case ("delay", .some(let value)):
            guard let seconds = Double(value), (0...3600).contains(seconds) else {
                throw Fault(text: "delay takes seconds, 0 to 3600")
            }
            kind = .delay(seconds: seconds)
        case ("lose", nil): kind = .lose
        case ("silence", nil): kind = .silence
        case ("duplicate", nil): kind = .duplicate
        case ("hangup", nil): kind = .hangUp(withReset: false)
        case ("reset", nil): kind = .hangUp(withReset: true)
        default: throw Fault(text: "\(word) is no fault; try help")
        }
        var fault = GatewayFault(kind)
        for option in words.dropFirst() {
            switch Self.pair(option) {
            case ("times", .some(let value)): fault.times = try Self.number([value], 0, else: 1, in: 1...1_000_000_000)
            case ("share", .some(let value)):
                guard let share = Double(value), (0...1).contains(share) else { throw Fault(text: "share is 0 to 1") }
                fault.share = share
            case ("token", .some(let value)):
                guard let prefix = bytes(fromHex: value) else {
                    throw Fault(text: "token takes hex digits, two a byte")
                }
                fault.tokenPrefix = prefix
            default: throw Fault(text: "\(option) is none of times=N, share=X, token=HEX")
            }
        }
        return fault
    }

    private static func code(_ text: String) throws(Fault) -> UInt32 {
        guard let code = UInt32(text) else {
            throw Fault(text: "an error code of HTTP/2 is a number, 7 for REFUSED_STREAM")
        }
        return code
    }

    private static func pair(_ word: String) -> (String, String?) {
        guard let place = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<place]), String(word[word.index(after: place)...]))
    }
}
