internal import CardRules

/// The sleep timers of one day: who opens which session when, and when it is stopped.
struct SessionPlan {
    let id: CardKey
    let devices: [DeviceID]
    let opens: WallTime
    let stops: WallTime

    var terms: SessionTerms {
        SessionTerms(
            devices: devices, attributesType: "SleepAttributes", attributes: .object(["session": .string(id.text)]),
            content: .object(["count": .integer(0)]), title: "Sleep", startedAt: opens)
    }

    /// About one for every three phones, of one device or two, between half an hour and most of the day long.
    static func draw(
        for profiles: [PhoneProfile], from begins: WallTime, until ends: WallTime, random: inout SeededGenerator
    ) -> [SessionPlan] {
        let span = ends.seconds(since: begins)
        return (0..<max(1, profiles.count / 3)).compactMap { number in
            let devices = (0..<Int.random(in: 1...2, using: &random))
                .compactMap { _ in profiles.randomElement(using: &random)?.device }
            guard !devices.isEmpty, span > 7200 else { return nil }
            let opens = begins.advanced(bySeconds: Double.random(in: 3600..<max(3601, span * 0.6), using: &random))
            let length = Double.random(in: 1800...57_600, using: &random)
            let stops = min(opens.advanced(bySeconds: length), ends.advanced(bySeconds: -300))
            guard stops > opens else { return nil }
            var seen: Set<DeviceID> = []
            return SessionPlan(
                id: CardKey(unchecked: "sleep-\(number)"), devices: devices.filter { seen.insert($0).inserted },
                opens: opens, stops: stops)
        }
    }
}
