internal import CardRules
internal import Lanes

/// The shapes of bodies and answers, by name.
enum Schemas {
    static let all: [String: JSONSchema] = bodies.merging(answers) { first, _ in first }.merging(small) { first, _ in
        first
    }

    private static let seconds = JSONSchema.number("Unix seconds, fractions allowed.", from: 0, to: 253_402_300_799)
    private static let whole = JSONSchema.integer("Unix seconds.")
    private static let id = JSONSchema.named("ID")
    private static let gateway = JSONSchema.named("Gateway")

    private static let small: [String: JSONSchema] = [
        "ID": .string("A name given by others.", pattern: "^[A-Za-z0-9._:-]{1,128}$"),
        "Gateway": .string("The APNs environment that a token belongs to.", oneOf: Gateway.allCases.map(\.rawValue)),
        "Token": .string("A device token in hex.", pattern: "^([0-9A-Fa-f]{2}){1,200}$"),
        "MinuteOfDay": .string("HH:MM", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$"),
        "Problem": .object(
            "Problem details (RFC 9457).", required: ["title", "status", "detail"],
            [
                "title": .string("The status in words."), "status": .integer(from: 400, to: 599),
                "detail": .string("What is wrong, for people."),
                "field": .string("The member of the body that is to blame, a JSON pointer (RFC 6901)."),
                "line": .integer("Of the body, where it is no JSON.", from: 1), "column": .integer(from: 1),
                "rejected": .array(of: .named("RejectedLine")),
                "reasons": .array(of: .string(), "Why the daemon is not ready."),
                "heldSyncedAt": .integer("When the selection held was synced, Unix seconds."),
                "sizes": .object(
                    "Bytes of the largest pushes of a session.", required: ["start", "update", "end", "limit"],
                    ["start": .integer(), "update": .integer(), "end": .integer(), "limit": .integer()]),
            ]),
        "Status": .object(required: ["status"], ["status": .string()]),
    ]

    // MARK: - Bodies

    private static func text(_ bytes: Int) -> JSONSchema { .string(maximumLength: bytes, minimumLength: 1) }

    private static let bodies: [String: JSONSchema] = [
        "Device": .object([
            "app": id, "user": text(DeviceBody.maximumTextBytes).orNull, "gateway": gateway,
            "pushToStartToken": JSONSchema.named("Token").orNull,
            "osVersion": .string("Such as 17.2.", pattern: "^[0-9]{1,9}(\\.[0-9]{1,9})*$", maximumLength: 256),
            "appVersion": text(DeviceBody.maximumTextBytes), "timeZone": .string("An IANA name."),
            "quietHours": JSONSchema.object(
                "Local wall times, not equal.", required: ["from", "to"],
                ["from": .named("MinuteOfDay"), "to": .named("MinuteOfDay")]
            ).orNull,
            "spoilerFree": .flag(), "sound": .flag(), "frequentUpdates": .flag(),
            "personalisation": .anything(
                """
                `{"version":1,"teams":{"id":0...1},"leagues":{"id":points},"minimumWorth":60,"maxGames":4}`. Any other \
                shape is stored, and treated as unreadable.
                """),
        ]),
        "Selection": .object(
            required: ["games", "syncedAt"],
            [
                "games": .array(of: id, "In the app's order.", maximum: SelectionBody.maximumGames),
                "pinned": id.orNull, "muted": .array(of: id, maximum: SelectionBody.maximumGames),
                "syncedAt": seconds,
            ]),
        "CardToken": .object(
            required: ["activity", "updateToken", "gateway", "startedBy"],
            [
                "activity": id, "updateToken": .named("Token"), "gateway": gateway,
                "startedBy": .string(oneOf: ["push", "app"]), "began": seconds.orNull,
            ]),
        "CardReport": .object(
            required: ["report", "activity", "at"],
            [
                "report": .string(oneOf: CardReport.Kind.allCases.map(\.rawValue)), "activity": id, "at": seconds,
            ]),
        "Session": .object(
            required: ["devices", "attributesType", "attributes", "content", "title", "startedAt"],
            [
                "devices": .array(of: id, minimum: 1, maximum: SessionTerms.maxDevices),
                "attributesType": text(SessionBody.maximumTextBytes), "attributes": .anyObject(),
                "content": .anyObject("The content state."), "title": text(SessionBody.maximumTextBytes),
                "startedAt": seconds,
                "alert": JSONSchema.object(
                    "`{since}` stands for the time of day when it began.", required: ["title", "body"],
                    ["title": text(SessionBody.maximumTextBytes), "body": text(SessionBody.maximumTextBytes)]
                ).orNull,
                "urgent": .flag("This change goes at priority 10."),
                "startedOn": .array(
                    of: id, "Devices that start their own card.", maximum: SessionTerms.maxDevices),
            ]),
        "SessionEnd": .object(["content": .anyObject("Shown last.")]),
        "Ticks": .string("NDJSON: one object a line."),
        "Moment": .object(
            required: ["game", "kind", "seconds", "devices"],
            [
                "game": id, "kind": .string(oneOf: MomentKind.allCases.map(\.rawValue)),
                "seconds": .number(from: Supervisor.momentSeconds.lowerBound, to: Supervisor.momentSeconds.upperBound),
                "devices": .array(of: id, minimum: 1, maximum: Supervisor.momentDevices),
            ]),
        "Probe": .object(required: ["device"], ["device": id, "gateway": gateway.orNull]),
    ]

    // MARK: - Answers

    private static let answers: [String: JSONSchema] = [
        "TickOutcome": .object(
            required: ["accepted", "rejected"],
            ["accepted": .integer("Lines.", from: 0), "rejected": .array(of: .named("RejectedLine"))]),
        "RejectedLine": .object(
            required: ["line", "detail"], ["line": .integer("From 1.", from: 1), "detail": .string()]),
        "ProbeVariants": .object(
            required: ["variants"],
            [
                "variants": .array(
                    of: .object(
                        required: ["name", "at"],
                        ["name": .string(oneOf: ProbeVariant.allCases.map(\.rawValue)), "at": whole]))
            ]),
        "Timeline": .object(
            required: ["entries", "next"],
            ["entries": .array(of: .named("TimelineEntry")), "next": .integer("Give it as `after`.", from: 0)]),
        "TimelineEntry": .object(
            required: ["seq", "at", "key", "kind", "rule", "detail", "push", "probe"],
            [
                "seq": .integer(from: 0), "device": id, "at": whole, "key": id.orNull,
                "kind": .string(oneOf: TimelineEntry.Kind.allCases.map(\.rawValue)),
                "rule": JSONSchema.string(oneOf: Rule.allCases.map(\.rawValue)).orNull, "detail": .string(),
                "push": JSONSchema.object(
                    required: ["id", "event", "gateway", "priority", "status", "reason"],
                    [
                        "id": JSONSchema.string("`apns-id`").orNull,
                        "event": .string(oneOf: ["start", "update", "end"]), "gateway": gateway,
                        "priority": .integer(from: 5, to: 10), "status": JSONSchema.integer().orNull,
                        "reason": JSONSchema.string().orNull,
                    ]
                ).orNull,
                "probe": JSONSchema.object(
                    "What a probe has come to; `variant` is null for all that had not been sent.",
                    required: ["variant", "event"],
                    [
                        "variant": JSONSchema.string(oneOf: ProbeVariant.allCases.map(\.rawValue)).orNull,
                        "event": .string(oneOf: ProbeStep.Event.allCases.map(\.rawValue)),
                    ]
                ).orNull,
            ]),
        // OpenAPI 3.1 has no word for the items of a stream; its schema is read as that of each.
        "Event": .object(
            "One server-sent event.", required: ["id", "event", "data"],
            [
                "id": .string("The entry's `seq`.", pattern: "^[0-9]+$"),
                "event": .string("The entry's `kind`.", oneOf: TimelineEntry.Kind.allCases.map(\.rawValue)),
                "data": .string("The entry as JSON, a TimelineEntry.", holding: .named("TimelineEntry")),
            ]),
        "Slate": .object(
            required: ["version", "asOf", "games"],
            ["version": .integer(from: 0), "asOf": whole, "games": .array(of: .named("RankedGame"))]),
        "RankedGame": .object(
            required: ["id", "sport", "home", "away", "phase", "inWindow", "worth", "worthOf", "lift", "moments"],
            [
                "id": id, "sport": .string(), "league": JSONSchema.string().orNull, "home": .string(),
                "away": .string(), "startsAt": whole.orNull, "phase": .string(oneOf: Phase.allCases.map(\.rawValue)),
                "period": JSONSchema.integer().orNull, "clock": JSONSchema.string().orNull,
                "homeScore": JSONSchema.integer().orNull, "awayScore": JSONSchema.integer().orNull,
                "homeRank": JSONSchema.integer().orNull, "awayRank": JSONSchema.integer().orNull,
                "spread": JSONSchema.number().orNull,
                "favourite": JSONSchema.string(oneOf: ["home", "away"]).orNull,
                "detail": .anything("What the sport adds."),
                "others": .anyObject("Keys of the lines that this version does not know."), "inWindow": .flag(),
                "worth": .number("How much it is worth watching now.", from: 0, to: 100),
                "worthOf": .object(
                    "What the worth is made of, points.", required: ["phase", "tension", "leadChanges", "stakes"],
                    ["phase": .number(), "tension": .number(), "leadChanges": .number(), "stakes": .number()]),
                "lift": .number("The largest boost among its moments, points."),
                "moments": .array(of: .string(oneOf: MomentKind.allCases.map(\.rawValue)), "Strongest first."),
            ]),
        "DeviceState": .object(
            required: [
                "device", "app", "user", "superseded", "pushToStart", "needsToken", "night", "ledger", "selection",
                "cards", "why", "deadlines",
            ],
            [
                "device": id, "app": id, "user": JSONSchema.string().orNull, "superseded": .flag(),
                "pushToStart": JSONSchema.object(
                    required: ["token", "gateway", "reportedAt", "noneReportedAt"],
                    [
                        "token": JSONSchema.string("Its fingerprint.", pattern: "^[0-9a-f]{8}$").orNull,
                        "gateway": gateway.orNull, "reportedAt": whole, "noneReportedAt": whole.orNull,
                    ]
                ).orNull,
                "needsToken": .flag("The app is to report its push-to-start token anew."),
                "night": .object(required: ["from", "to"], ["from": whole, "to": whole]),
                "ledger": .object(
                    required: ["sent", "accepted", "acknowledged", "withheld"],
                    [
                        "sent": .integer(from: 0), "accepted": .integer(from: 0), "acknowledged": .integer(from: 0),
                        "withheld": .anyObject("Starts withheld tonight, by rule.", of: .integer(from: 1)),
                    ]),
                "selection": JSONSchema.object(
                    required: ["games", "pinned", "muted", "syncedAt", "arrivedAt"],
                    [
                        "games": .array(of: id), "pinned": id.orNull, "muted": .array(of: id), "syncedAt": whole,
                        "arrivedAt": whole,
                    ]
                ).orNull,
                "cards": .array(of: .named("CardState")),
                "why": .anyObject(
                    "By card key.",
                    of: .object(
                        required: ["rule", "detail", "changesWhen"],
                        [
                            "rule": JSONSchema.string().orNull, "detail": .string(),
                            "changesWhen": JSONSchema.string().orNull,
                        ])),
                "deadlines": .array(
                    of: .object(
                        required: ["at", "kind", "key"],
                        [
                            "at": whole, "kind": .string(oneOf: LaneDeadline.Kind.allCases.map(\.rawValue)),
                            "key": id.orNull,
                        ])),
            ]),
        "CardState": .object(
            required: [
                "key", "programme", "state", "activity", "ageBegan", "reissueAt", "limitAt", "front", "content",
                "urgentLeft",
            ],
            [
                "key": id, "programme": .string(oneOf: ["slate", "session"]),
                "state": .string(oneOf: ["starting", "believed", "confirmed", "replacing", "ending"]),
                "activity": id.orNull, "ageBegan": whole.orNull, "reissueAt": whole.orNull, "limitAt": whole.orNull,
                "front": id.orNull, "content": JSONSchema.anyObject("The content state.").orNull,
                "urgentLeft": .integer("Priority-10 updates left within the hour.", from: 0),
            ]),
    ]
}
