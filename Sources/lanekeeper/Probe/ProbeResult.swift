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

    /// Takes one entry of the timeline; those that are none of a probe are let pass. The sentences are those of
    /// `LaneState+Probe.swift`: `variant 2 of 5, no-alert: sent`.
    mutating func take(_ entry: JSONValue) {
        guard entry["kind"]?.text == "probe", let detail = entry["detail"]?.text else { return }
        if detail.contains(" variants dropped: ") {
            for place in variants.indices where variants[place].sentAt == nil && !variants[place].isOver {
                variants[place].phone.append("not sent: \(tail(of: detail, after: " variants dropped: "))")
                variants[place].isOver = true
            }
            return
        }
        guard detail.hasPrefix("variant "),
            let place = variants.firstIndex(where: { detail.contains(", \($0.name): ") })
        else { return }
        let words = tail(of: detail, after: ", \(variants[place].name): ")
        let at = entry["at"]?.seconds
        switch entry["rule"]?.text {
        case "P1" where words == "sent": variants[place].sentAt = at
        case "R3":
            if let at, let sent = variants[place].sentAt { variants[place].tokenAfter = max(0, at - sent) }
            variants[place].isOver = true
        case "S14":
            variants[place].phone.append(words)
            if words.hasSuffix("ended") || words.hasSuffix("dismissed") { variants[place].isOver = true }
        case "L9", "S13":
            variants[place].phone.append(words)
            variants[place].isOver = true
        default:
            let status = entry["push"]?["status"]?.wholeNumber
            let reason = entry["push"]?["reason"]?.text
            let told = [status.map { "\($0)" }, reason].compactMap(\.self)
            variants[place].answer = told.isEmpty ? words : told.joined(separator: " ")
            if words.hasPrefix("refused") || words == "not sent" { variants[place].isOver = true }
        }
    }

    mutating func add(_ log: [[DeviceLogEntry]]) {
        for (send, entries) in zip(sends, log) { variants[send.place].log = entries }
    }

    /// The entries of the newest probe among these (oldest first); none when they hold none.
    static func newest(in entries: [JSONValue]) -> ArraySlice<JSONValue> {
        let first = entries.lastIndex {
            $0["kind"]?.text == "probe" && $0["detail"]?.text?.hasPrefix("variant 1 of ") == true
                && $0["detail"]?.text?.hasSuffix(": sent") == true
        }
        return first.map { entries[$0...] } ?? []
    }

    private func tail(of text: String, after mark: String) -> String {
        let parts = text.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : text
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
