internal import CardRules

extension Route {
    /// The API, call by call, in the order of its description.
    static let all: [Route] = devices + sessions + feed + reading + operators + withoutKey

    /// `/v1/devices/{device}` from its parts: a brace makes a parameter.
    static func path(_ template: String) -> [PathPart] {
        template.split(separator: "/").map { part in
            guard part.hasPrefix("{"), let name = PathParameter(rawValue: String(part.dropFirst().dropLast())) else {
                return .literal(String(part))
            }
            return .parameter(name)
        }
    }

    // MARK: - What an app says

    private static let devices: [Route] = [
        Route(
            call: .putDevice, method: .put, path: path("v1/devices/{device}"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("Device"),
                example: .object([
                    "user": .string("u1"), "gateway": .string("production"),
                    "pushToStartToken": .string("9a3f8c"), "osVersion": .string("18.1"),
                    "timeZone": .string("America/New_York"),
                    "quietHours": .object(["from": .string("22:30"), "to": .string("07:00")]),
                ])),
            answers: [
                PossibleAnswer(status: 204, description: "Durable."),
                PossibleAnswer(
                    status: 409, description: "The device is one of another app.",
                    content: (.problem, .named("Problem"))
                ),
            ],
            summary: "Register a device, or change what is known of it",
            description: """
                A field left out keeps its value. A push-to-start token comes with its gateway, or the answer is 422; \
                null says that iOS has none, and never erases the one held. A user cleared or changed ends the \
                device's cards.
                """),
        Route(
            call: .getDevice, method: .get, path: path("v1/devices/{device}"), scope: .devices,
            answers: [
                PossibleAnswer(status: 200, description: "As it is now.", content: (.json, .named("DeviceState")))
            ],
            summary: "Read a device's state",
            description: """
                Cards, ledger, selection, next deadlines, and per card key the rule that decided last and what would \
                change it. What does not apply is null; a token is shown by the first 8 hex digits of the SHA-256 of \
                its lower-case hex text.
                """),
        Route(
            call: .deleteDevice, method: .delete, path: path("v1/devices/{device}"), scope: .devices,
            answers: [PossibleAnswer(status: 204, description: "Durable; also when repeated.")],
            summary: "Forget a device", description: "Its cards are ended first."),
        Route(
            call: .putSelection, method: .put, path: path("v1/devices/{device}/selection"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("Selection"),
                example: .object([
                    "games": .array([.string("nba-1"), .string("nba-2")]), "pinned": .null, "muted": .array([]),
                    "syncedAt": .integer(1_768_075_200),
                ])),
            answers: [
                PossibleAnswer(status: 204, description: "Durable."),
                PossibleAnswer(
                    status: 409, description: "A selection of a later time is held.",
                    content: (.problem, .named("Problem"))),
            ],
            summary: "Say which games the owner chose",
            description: "In the app's order. A `syncedAt` ahead of the server's clock counts as now."),
        Route(
            call: .putCard, method: .put, path: path("v1/devices/{device}/cards/{key}"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("CardToken"),
                example: .object([
                    "activity": .string("9C1B6F3E"), "updateToken": .string("c0ffee"),
                    "gateway": .string("production"), "startedBy": .string("push"),
                ])),
            answers: [PossibleAnswer(status: 204, description: "Durable.")],
            summary: "Report the update token of a card",
            description: "`{key}` is `slate` or the id of a session; 404 for another."),
        Route(
            call: .postReport, method: .post, path: path("v1/devices/{device}/cards/{key}/reports"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("CardReport"),
                example: .object([
                    "report": .string("dismissed"), "activity": .string("9C1B6F3E"), "at": .integer(1_768_075_260),
                ])),
            answers: [PossibleAnswer(status: 204, description: "Durable.")],
            summary: "Report what became of a card on the phone"),
    ]

    // MARK: - Sessions

    private static let sessions: [Route] = [
        Route(
            call: .putSession, method: .put, path: path("v1/sessions/{session}"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("Session"),
                example: .object([
                    "devices": .array([.string("d1")]), "attributesType": .string("SleepAttributes"),
                    "attributes": .object(["session": .string("nap-7")]), "content": .object(["count": .integer(0)]),
                    "title": .string("Sleep"), "startedAt": .integer(1_768_075_200),
                ])),
            answers: [
                PossibleAnswer(status: 201, description: "Opened, durable."),
                PossibleAnswer(status: 200, description: "Changed, or as it was; durable."),
                PossibleAnswer(
                    status: 409, description: "`startedAt` differs from the one held, which never changes.",
                    content: (.problem, .named("Problem"))),
            ],
            summary: "Open a session, or change it",
            description: """
                One id per sleep, ride or order; put it into `attributes` so that the app knows its card's key. A \
                device that leaves `devices` has its card ended. A PUT after DELETE opens it anew. 422 with the sizes \
                when the payload would exceed 4,096 bytes.
                """),
        Route(
            call: .deleteSession, method: .delete, path: path("v1/sessions/{session}"), scope: .devices,
            body: RequestBody(
                mediaType: .json, schema: .named("SessionEnd"),
                example: .object(["content": .object(["count": .integer(3)])]), isRequired: false),
            answers: [PossibleAnswer(status: 204, description: "Durable; also when repeated.")],
            summary: "Stop a session", description: "Its cards are ended on every phone; `content` is shown last."),
    ]

    // MARK: - The feed

    private static let feed: [Route] = [
        Route(
            call: .postTicks, method: .post, path: path("v1/ticks"), scope: .feed,
            body: RequestBody(
                mediaType: .ndjson, schema: .named("Ticks"),
                example: .string(
                    #"{"t":1768075200,"type":"game","game":"nba-1","sport":"basketball","home":"A","away":"B"}"# + "\n"
                        + #"{"t":1768075260,"type":"score","game":"nba-1","home":2,"away":0,"phase":"live"}"# + "\n")),
            answers: [
                PossibleAnswer(
                    status: 200, description: "The usable lines are durable.", content: (.json, .named("TickOutcome")))
            ],
            summary: "Tell what happened in the games",
            description: """
                One JSON object a line: `game` announces or corrects a game, `score` changes its state. A line is a \
                patch: a key left out keeps its value, null clears it. Lines count from 1, blank ones are skipped. 400 \
                when no line was usable.
                """),
        Route(
            call: .getSlate, method: .get, path: path("v1/slate"), scope: .feed,
            answers: [
                PossibleAnswer(status: 200, description: "Best first.", content: (.json, .named("Slate")))
            ],
            summary: "Read the ranked slate", description: "Worth, moments, and what each is made of."),
    ]

    // MARK: - What people watch

    private static let after = QueryParameter(
        name: "after", schema: .integer(from: 0, to: .max),
        description: "Only entries above this `seq`; without it the newest.")

    private static let reading: [Route] = [
        Route(
            call: .getTimeline, method: .get, path: path("v1/devices/{device}/timeline"), scope: .devices,
            query: [
                after,
                QueryParameter(
                    name: "limit",
                    schema: .integer(
                        from: Int64(QueryValues.limits.lowerBound), to: Int64(QueryValues.limits.upperBound)),
                    description: "At most so many entries; 100 without it."),
            ],
            answers: [
                PossibleAnswer(status: 200, description: "In rising order.", content: (.json, .named("Timeline")))
            ],
            summary: "Read what was decided about a device",
            description: "`next` is what to give as `after` for the entries that follow."),
        Route(
            call: .getEvents, method: .get, path: path("v1/events"), scope: .devices,
            query: [
                QueryParameter(
                    name: "device", schema: .string(pattern: "^[A-Za-z0-9._:-]{1,128}$"),
                    description: "Only this device's; without it those of all, each entry with its `device`."),
                QueryParameter(
                    name: "after", schema: .integer(from: 0, to: .max),
                    description: "Begin behind this `seq`; without it with what comes from now on."),
            ],
            answers: [
                PossibleAnswer(
                    status: 200,
                    description: """
                        Server-sent events without end: `id` is the entry's `seq`, `event` its `kind`, `data` the entry. \
                        `Last-Event-ID` goes before `after`. A client that does not read is cut, and misses nothing by \
                        coming back.
                        """, content: (.events, .named("Event")))
            ],
            summary: "Watch what is decided"),
    ]

    // MARK: - Operators

    private static let operators: [Route] = [
        Route(
            call: .postMoment, method: .post, path: path("v1/moments"), scope: .admin,
            body: RequestBody(
                mediaType: .json, schema: .named("Moment"),
                example: .object([
                    "game": .string("nba-1"), "kind": .string("overtime"), "seconds": .integer(30),
                    "devices": .array([.string("d1")]),
                ])),
            answers: [PossibleAnswer(status: 202, description: "The phones' lanes have it.")],
            summary: "Make up a moment for these phones only"),
        Route(
            call: .postProbe, method: .post, path: path("v1/probes"), scope: .admin,
            body: RequestBody(
                mediaType: .json, schema: .named("Probe"),
                example: .object(["device": .string("d1"), "gateway": .null])),
            answers: [
                PossibleAnswer(
                    status: 202, description: "Begun; results are on the timeline.",
                    content: (.json, .named("ProbeVariants"))),
                PossibleAnswer(
                    status: 409, description: "Another probe runs, or the night's hard cap leaves no five units.",
                    content: (.problem, .named("Problem"))),
            ],
            summary: "Send the five start variants to a device, a minute apart"),
        Route(
            call: .pauseGateway, method: .post, path: path("v1/gateways/{gateway}/pause"), scope: .admin,
            answers: [PossibleAnswer(status: 204, description: "Paused, durable.")],
            summary: "Send nothing to a gateway",
            description: "Nothing is lost meanwhile, and the pause survives a restart."),
        Route(
            call: .resumeGateway, method: .post, path: path("v1/gateways/{gateway}/resume"), scope: .admin,
            answers: [PossibleAnswer(status: 204, description: "Resumed, durable.")],
            summary: "Send to a gateway again"),
    ]

    // MARK: - Without a key

    private static let withoutKey: [Route] = [
        Route(
            call: .getHealth, method: .get, path: path("healthz"), scope: nil,
            answers: [
                PossibleAnswer(status: 200, description: "The process lives.", content: (.json, .named("Status")))
            ],
            summary: "Liveness"),
        Route(
            call: .getReadiness, method: .get, path: path("readyz"), scope: nil,
            answers: [
                PossibleAnswer(
                    status: 200, description: "Store reachable, leases held, lanes loaded.",
                    content: (.json, .named("Status"))),
                PossibleAnswer(
                    status: 503, description: "Not ready, with `reasons`.", content: (.problem, .named("Problem"))),
            ],
            summary: "Readiness"),
        Route(
            call: .getMetrics, method: .get, path: path("metrics"), scope: nil,
            answers: [
                PossibleAnswer(status: 200, description: "Prometheus text.", content: (.prometheus, .string()))
            ],
            summary: "Metrics"),
        Route(
            call: .getOpenAPI, method: .get, path: path("openapi.json"), scope: nil,
            answers: [
                PossibleAnswer(
                    status: 200, description: "OpenAPI 3.1.", content: (.json, .anyObject("This description.")))
            ],
            summary: "This description"),
    ]
}
