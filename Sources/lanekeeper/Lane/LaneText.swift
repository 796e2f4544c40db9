import CardRules

/// The answers of `GET /v1/devices/{device}` and of its timeline, for people. What is missing is left out: an older or
/// newer daemon is shown as far as it is understood. Every text of the daemon is tamed.
enum LaneText {
    static func lines(_ state: JSONValue, timeline: JSONValue) -> [String] {
        var rows: [[String]] = [["phone", phone(state)]]
        rows.append(["push-to-start", token(state)])
        if let night = state["night"], let from = night["from"]?.seconds, let to = night["to"]?.seconds {
            rows.append(["night", "\(UTCText.full(from)) to \(UTCText.full(to))"])
        }
        if let ledger = state["ledger"] { rows.append(["starts", self.ledger(ledger)]) }
        if let selection = state["selection"], selection != .null {
            rows.append(["selection", self.selection(selection)])
        }
        for card in state["cards"]?.elements ?? [] { rows.append(["card", self.card(card)]) }
        if state["cards"]?.elements.isEmpty == true { rows.append(["cards", "none"]) }
        for reason in state["why"]?.members ?? [] { rows.append(["why", why(reason)]) }
        for deadline in state["deadlines"]?.elements ?? [] {
            let at = deadline["at"]?.seconds.map(UTCText.full) ?? "?"
            rows.append(["next", words([at, text(deadline["kind"]), text(deadline["key"])])])
        }
        return columns(rows) + [""] + entries(timeline)
    }

    /// The entries in their order; a heading says the clock.
    static func entries(_ timeline: JSONValue) -> [String] {
        let entries = timeline["entries"]?.elements ?? []
        guard !entries.isEmpty else { return ["timeline: nothing yet"] }
        var lines = ["timeline (UTC)"]
        var day = ""
        var rows: [[String]] = []
        for entry in entries {
            let full = entry["at"]?.seconds.map(UTCText.full) ?? "?"
            if full.prefix(10) != day {
                day = String(full.prefix(10))
                rows.append([day])
            }
            rows.append([
                String(full.dropFirst(11)), text(entry["kind"]) ?? "", text(entry["key"]) ?? "",
                text(entry["rule"]) ?? "", words([text(entry["detail"]), entry["push"].flatMap(push)]),
            ])
        }
        // The days' own lines must not widen the column of times.
        let table = columns(rows.filter { $0.count > 1 }, indent: "  ")
        var next = 0
        for row in rows {
            if row.count == 1 {
                lines.append(row[0])
            } else {
                lines.append(table[next])
                next += 1
            }
        }
        return lines
    }

    private static func phone(_ state: JSONValue) -> String {
        var notes = [text(state["app"]).map { "app \($0)" }, text(state["user"]).map { "user \($0)" }]
        if state["superseded"] == .bool(true) { notes.append("superseded by another record of the same phone") }
        return "\(text(state["device"]) ?? "?") (\(notes.compactMap(\.self).joined(separator: ", ")))"
    }

    private static func token(_ state: JSONValue) -> String {
        let held = state["pushToStart"]
        var parts: [String] = []
        if let token = text(held?["token"]) {
            var part = token
            if let gateway = text(held?["gateway"]) { part += " on \(gateway)" }
            if let at = held?["reportedAt"]?.seconds { part += ", told \(UTCText.full(at))" }
            parts.append(part)
        } else {
            parts.append("no token")
        }
        if let at = held?["noneReportedAt"]?.seconds {
            parts.append("the app said at \(UTCText.full(at)) that iOS has none")
        }
        if state["needsToken"] == .bool(true) {
            parts.append("needs a token: no start goes to this phone until one comes")
        }
        return parts.joined(separator: "; ")
    }

    private static func ledger(_ ledger: JSONValue) -> String {
        func count(_ key: String) -> String { "\(ledger[key]?.wholeNumber ?? 0) \(key)" }
        let withheld = (ledger["withheld"]?.members ?? []).map { "\(tamed($0.key)) \($0.value.wholeNumber ?? 0)" }
        return "tonight \(count("sent")), \(count("accepted")), \(count("acknowledged"))"
            + (withheld.isEmpty ? "" : "; withheld by \(withheld.joined(separator: ", "))")
    }

    private static func selection(_ selection: JSONValue) -> String {
        let games = (selection["games"]?.elements ?? []).compactMap { text($0) }
        let muted = (selection["muted"]?.elements ?? []).compactMap { text($0) }
        var parts = [games.isEmpty ? "no games" : games.joined(separator: " ")]
        if let pinned = text(selection["pinned"]) { parts.append("pinned \(pinned)") }
        if !muted.isEmpty { parts.append("muted \(muted.joined(separator: " "))") }
        if let at = selection["syncedAt"]?.seconds { parts.append("synced \(UTCText.full(at))") }
        return parts.joined(separator: "; ")
    }

    private static func card(_ card: JSONValue) -> String {
        var parts = [words([text(card["key"]), text(card["programme"]), text(card["state"])])]
        if let front = text(card["front"]) { parts.append("front \(front)") }
        if let activity = text(card["activity"]) { parts.append("activity \(activity)") }
        for (key, name) in [("ageBegan", "since"), ("reissueAt", "reissue"), ("limitAt", "limit")] {
            if let at = card[key]?.seconds { parts.append("\(name) \(UTCText.full(at))") }
        }
        if let left = card["urgentLeft"]?.wholeNumber { parts.append("\(left) urgent updates left this hour") }
        return parts.joined(separator: "; ")
    }

    private static func why(_ reason: JSONValue.Member) -> String {
        var line = tamed(reason.key)
        if let rule = text(reason.value["rule"]) { line += " \(rule)" }
        if let detail = text(reason.value["detail"]) { line += ": \(detail)" }
        if let changes = text(reason.value["changesWhen"]) { line += "; changes when \(changes)" }
        return line
    }

    private static func push(_ push: JSONValue) -> String? {
        guard push != .null else { return nil }
        let parts = [
            text(push["event"]), text(push["gateway"]), push["priority"]?.wholeNumber.map { "p\($0)" },
            push["status"]?.wholeNumber.map { "\($0)" }, text(push["reason"]), text(push["id"]),
        ]
        return "[\(words(parts))]"
    }

    private static func words(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: " ") }

    private static func text(_ value: JSONValue?) -> String? { value?.text.map(tamed) }
}
