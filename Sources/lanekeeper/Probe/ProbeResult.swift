import CardRules

/// What is known of a probe's five starts, gathered from the entries of the device's timeline.
struct ProbeResult: Equatable, Sendable {
    /// In their order.
    private(set) var variants: [Variant]

    struct Variant: Equatable, Sendable {
        let name: String
        /// Unix seconds.
        var sentAt: Double?
        /// In the gateway's words, or ours where it did not speak: `200`, `400 BadDeviceToken`, `unknown`.
        var answer: String?
        /// Seconds from the send to the update token of its card.
        var tokenAfter: Double?
        /// What the app told of its card, or what came instead of a token.
        var phone: [String] = []
        /// Nothing more is to come.
        var isOver = false
        var log: [DeviceLogEntry] = []

        init(_ name: String) { self.name = name }
    }

    /// - Parameter names: as `POST /v1/probes` told them.
    init(names: [String] = ProbeVariant.allCases.map(\.rawValue)) { variants = names.map { Variant($0) } }

    var isOver: Bool { variants.allSatisfy(\.isOver) }

    /// The start as every start is became a card.
    var isGood: Bool { variants.first { $0.name == ProbeVariant.full.rawValue }?.tokenAfter != nil }

    /// Sends in their order, with the variant's place.
    var sends: [(place: Int, at: Double)] {
        variants.enumerated().compactMap { place, variant in variant.sentAt.map { (place, $0) } }.sorted {
            $0.at < $1.at
        }
    }

    /// Takes one entry of the timeline; those that are none of a probe are let pass.
    mutating func take(_ entry: JSONValue) {
        guard let event = entry["probe"]?["event"]?.text else { return }
        guard let name = entry["probe"]?["variant"]?.text else {
            if event == ProbeStep.Event.dropped.rawValue { drop(because: words(of: entry)) }
            return
        }
        guard let place = variants.firstIndex(where: { $0.name == name }) else { return }
        let at = entry["at"]?.seconds
        // An event of a newer daemon says at least something.
        guard let event = ProbeStep.Event(rawValue: event) else {
            variants[place].phone.append(words(of: entry))
            return
        }
        switch event {
        case .sent: variants[place].sentAt = at
        case .accepted, .refused, .notSent, .unknown:
            let status = entry["push"]?["status"]?.wholeNumber.map { "\($0)" }
            let told = [status, entry["push"]?["reason"]?.text].compactMap(\.self)
            variants[place].answer = told.isEmpty ? words(of: entry) : told.joined(separator: " ")
        case .token:
            if let at, let sent = variants[place].sentAt { variants[place].tokenAfter = max(0, at - sent) }
        case .opened, .stale, .ended, .dismissed, .unseen, .skipped, .dropped:
            variants[place].phone.append(words(of: entry))
        }
        if event.isLast { variants[place].isOver = true }
    }

    private mutating func drop(because why: String) {
        for place in variants.indices where variants[place].sentAt == nil && !variants[place].isOver {
            variants[place].phone.append("not sent: \(why)")
            variants[place].isOver = true
        }
    }

    mutating func add(_ log: [[DeviceLogEntry]]) {
        for (send, entries) in zip(sends, log) { variants[send.place].log = entries }
    }

    /// The entries of the newest probe among these (oldest first); none when they hold none.
    static func newest(in entries: [JSONValue]) -> ArraySlice<JSONValue> {
        let first = entries.lastIndex {
            $0["probe"]?["event"]?.text == ProbeStep.Event.sent.rawValue
                && $0["probe"]?["variant"]?.text == ProbeVariant.allCases.first?.rawValue
        }
        return first.map { entries[$0...] } ?? []
    }

    /// The entry's sentence without what it begins with, which start it is about: for people.
    private func words(of entry: JSONValue) -> String {
        let detail = entry["detail"]?.text ?? ""
        let parts = detail.split(separator: ": ", maxSplits: 1)
        return String(parts.last ?? "")
    }
}

extension ProbeStep.Event {
    /// Nothing more is to come of that start.
    fileprivate var isLast: Bool {
        switch self {
        case .refused, .notSent, .token, .ended, .dismissed, .unseen, .skipped, .dropped: true
        case .sent, .accepted, .unknown, .opened, .stale: false
        }
    }
}

extension ProbeResult {
    /// The table; texts of the daemon and of the log are tamed.
    func lines(withLog: Bool) -> [String] {
        var rows = [["variant", "sent (UTC)", "answer", "phone"] + (withLog ? ["device log"] : [])]
        for variant in variants {
            var row = [
                tamed(variant.name), variant.sentAt.map(UTCText.time) ?? "-", tamed(variant.answer ?? "-"),
                tamed(variant.phoneWords),
            ]
            if withLog {
                row.append(variant.log.isEmpty ? "no line" : tamed(variant.log.map(\.words).joined(separator: ", ")))
            }
            rows.append(row)
        }
        return columns(rows)
    }

    var json: JSONValue {
        .array(
            variants.map { variant in
                .object([
                    "name": .string(variant.name), "sentAt": variant.sentAt.map { .number($0) } ?? .null,
                    "answer": variant.answer.map { .string($0) } ?? .null,
                    "tokenAfterSeconds": variant.tokenAfter.map { .number($0) } ?? .null,
                    "phone": .array(variant.phone.map { .string($0) }), "over": .bool(variant.isOver),
                    "log": .array(
                        variant.log.map {
                            .object([
                                "line": .integer(Int64($0.line)), "says": .string($0.words), "text": .string($0.text),
                                "times": .integer(Int64($0.times)),
                            ])
                        }),
                ])
            })
    }
}

extension ProbeResult.Variant {
    fileprivate var phoneWords: String {
        var parts = tokenAfter.map { ["token after \(Int($0.rounded())) s"] } ?? []
        parts += phone
        if parts.isEmpty { parts.append(isOver ? "-" : sentAt == nil ? "not sent yet" : "nothing yet") }
        return parts.joined(separator: "; ")
    }
}
