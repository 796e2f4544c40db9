import CardRules
import Testing

@testable import Simulation

@Suite struct PhoneFleetTests {
    static let night = FleetNight(
        games: (0..<20).map { number in
            FleetNight.Game(
                id: GameID(unchecked: "g\(number)"), sport: "hockey", league: "NHL", home: "Home \(number)",
                away: "Away \(number)", startsAt: Sample.evening.advanced(bySeconds: Double(number % 4) * 1800))
        })

    static let authorization = "bearer " + GatewayModelTests.providerToken(iat: Sample.evening.unixSeconds - 60)

    static func request(_ payload: [UInt8], to token: [UInt8], number: Int) -> GatewayRequest {
        GatewayModelTests.request(
            path: "/3/device/" + hexText(token),
            with: [
                "apns-id": Sample.push([], number: number).apnsID,
                "authorization": authorization, "apns-priority": "5",
            ], body: payload)
    }

    /// Starts a card on each phone that has a token, and updates each card whose token is known, every minute for an
    /// hour. Returns the trace of reports.
    static func drive(seed: UInt64, handsets: Int) -> (fleet: PhoneFleet, trace: [PhoneReport]) {
        let fleet = PhoneFleet(handsets: handsets, night: night, seed: seed)
        var models = Gateway.allCases.map {
            GatewayModel(gateway: $0, options: GatewayModelTests.options(), seed: seed)
        }
        var connections = models.indices.map { models[$0].openConnection() }
        var trace: [PhoneReport] = []
        var number = 0
        var started: Set<Int> = []
        var cards: [Int: PushAddress] = [:]
        func serve(_ payload: [UInt8], to address: PushAddress, at now: WallTime) {
            number += 1
            let place = address.gateway == .production ? 0 : 1
            _ = fleet.serve(
                request(payload, to: address.token, number: number), by: &models[place], on: &connections[place],
                at: now)
        }
        var due: [PushAddress] = []
        for minute in -30..<60 {
            let now = Sample.evening.advanced(bySeconds: Double(minute) * 60)
            // A minute after its app was there (S8).
            for address in due { serve(Sample.start(timestamp: now.unixSeconds), to: address, at: now) }
            due = []
            let reports = fleet.run(until: now)
            trace += reports
            for report in reports {
                switch report.body {
                case .registered(let registration):
                    guard case .token(let address) = registration.pushToStart, started.insert(report.phone).inserted
                    else { break }
                    due.append(address)
                case .cardToken(_, _, let address, _, _): cards[report.phone] = address
                case .selection, .card: break
                }
            }
            let content = Sample.content([Sample.game("g1", home: minute)])
            for (_, address) in cards.sorted(by: { $0.key < $1.key }) {
                serve(Sample.update(content, timestamp: now.unixSeconds + 1), to: address, at: now)
            }
        }
        return (fleet, trace)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the same seed gives the same night, another seed another`(seed: UInt64) {
        let first = Self.drive(seed: seed, handsets: 15)
        let second = Self.drive(seed: seed, handsets: 15)
        #expect(first.trace == second.trace, "seed \(seed)")
        #expect(first.trace != Self.drive(seed: seed + 100, handsets: 15).trace, "seed \(seed)")
    }

    @Test func `the fleet shows what it is sent, and the judge counts it`() {
        let (fleet, trace) = Self.drive(seed: 5, handsets: 60)
        let now = Sample.evening.advanced(bySeconds: 3600)
        let report = fleet.withJudge { $0.report(at: now) }
        let starts = (0..<fleet.count).filter { fleet.phone($0).pushToStart != nil }.count
        #expect(report.tally.startedByPush == starts)
        #expect(report.standing > starts / 2)
        #expect(report.tally.updates > 40 * report.standing)
        // A card that its owner swiped away.
        #expect(Set(report.tally.dropped.keys) == [.notAlive])
        #expect(trace.map(\.at) == trace.map(\.at).sorted())
        #expect(report.counts[.i1] == nil && report.counts[.i2] == nil && report.counts[.i10] == nil)
    }

    @Test func `the mix has each kind of phone in a fleet of a thousand`() {
        let profiles = PhoneFleet(handsets: 1000, night: Self.night, seed: 9).profiles
        #expect((1010...1090).contains(profiles.count))
        #expect(profiles.contains { $0.osVersion < .withPushToStart })
        #expect(profiles.contains { $0.forceQuits } && profiles.contains { $0.swipesAfter != nil })
        #expect(profiles.contains { $0.secondRecord != nil } && profiles.contains { $0.gateway == .sandbox })
        #expect(profiles.contains { profile in profile.openings.contains { $0.ownCard != nil } })
        #expect(profiles.contains { $0.openings.first?.choice?.pinned != nil })
        #expect(profiles.contains { !($0.openings.first?.choice?.muted ?? []).isEmpty })
        #expect(profiles.contains { $0.openings.allSatisfy { $0.choice == nil } })
        for profile in profiles {
            #expect(profile.openings.first.map { $0.at >= Self.night.begins && $0.at < Self.night.firstStart } == true)
            for choice in profile.openings.compactMap(\.choice) {
                #expect(choice.muted.allSatisfy(choice.games.contains))
                #expect(choice.pinned.map { choice.games.contains($0) && !choice.muted.contains($0) } ?? true)
            }
        }
    }

    @Test func `T3: a token exists at one gateway only, and a replaced one leads nowhere`() {
        let fleet = PhoneFleet(profiles: [Sample.profile { $0.pushToStart = .changesAfterFirstStart }], seed: 1)
        _ = fleet.run(until: Sample.evening)
        let token = fleet.phone(0).pushToStart ?? []
        #expect(fleet.standing(of: token, at: .production) == .live(bundleID: "com.example.lineup"))
        #expect(fleet.standing(of: token, at: .sandbox) == .unknown)
        for number in 1...2 {
            let now = Sample.evening.advanced(bySeconds: Double(number) * 1000)
            fleet.deliver(
                GatewayDelivery(
                    token: token, gateway: .production,
                    push: Sample.push(Sample.start(timestamp: now.unixSeconds), number: number)), at: now)
        }
        #expect(fleet.phone(0).cards.count == 1)
        let old = fleet.standing(of: token, at: .production)
        #expect(
            old
                == .dead(
                    bundleID: "com.example.lineup", since: Sample.evening.advanced(bySeconds: 1000), kind: .pushToStart)
        )
    }

    @Test func `an end is known at once, an open app reports it, and its token is dead`() {
        let fleet = PhoneFleet(profiles: [Sample.profile(openings: [0, 500])], seed: 1)
        _ = fleet.run(until: Sample.evening)
        let token = fleet.phone(0).pushToStart ?? []
        fleet.deliver(
            GatewayDelivery(
                token: token, gateway: .production, push: Sample.push(Sample.start(timestamp: Handset.stamp(100)))),
            at: Sample.evening.advanced(bySeconds: 100))
        let reports = fleet.run(until: Sample.evening.advanced(bySeconds: 510))
        guard let update = fleet.phone(0).cards.first?.updateToken else {
            Issue.record("no update token")
            return
        }
        #expect(reports.contains { if case .cardToken = $0.body { true } else { false } })
        fleet.deliver(
            GatewayDelivery(
                token: update, gateway: .production, push: Sample.push(Sample.end(timestamp: Handset.stamp(520)))),
            at: Sample.evening.advanced(bySeconds: 520))
        let after = fleet.run(until: Sample.evening.advanced(bySeconds: 521))
        #expect(
            after.contains { if case .card(_, .ended, _, _) = $0.body { true } else { false } })
        guard case .dead(_, _, .update) = fleet.standing(of: update, at: .production) else {
            Issue.record("the token lives")
            return
        }
    }
}
