import CardRules
import Testing

@testable import Simulation

/// Ref 8.2, G25, G26, G30.
@Suite struct DeliveryDeskTests {
    private static let now = GatewayModelTests.now
    private static let token: [UInt8] = [1, 2, 3]

    /// A desk whose changes may stand in an expectation.
    private final class Stand {
        private var desk: DeliveryDesk
        init(_ options: DeliveryDesk.Options = DeliveryDesk.Options(), seed: UInt64 = 1) {
            desk = DeliveryDesk(options: options, seed: seed)
        }
        var counters: DeliveryDesk.Counters { desk.counters }
        var log: [DeliveryDesk.Entry] { desk.log }
        var nextTime: WallTime? { desk.nextTime }
        func take(_ push: GatewayDelivery, uniqueID: String? = nil, at now: WallTime) -> [GatewayDelivery] {
            desk.take(push, uniqueID: uniqueID, at: now)
        }
        func set(_ reach: DeliveryDesk.Reach, of token: [UInt8], at now: WallTime) -> [GatewayDelivery] {
            desk.set(reach, of: token, at: now)
        }
        func run(until now: WallTime) -> [GatewayDelivery] { desk.run(until: now) }
    }

    private static func push(_ number: Int, priority: Int = 10, expiration: Int64? = nil) -> GatewayDelivery {
        GatewayDelivery(
            token: token, gateway: .sandbox,
            push: ReceivedPush(
                apnsID: "\(number)", topic: GatewayModelTests.topic, priority: priority, expiration: expiration,
                payload: []))
    }

    private static func ids(_ deliveries: [GatewayDelivery]) -> [String] { deliveries.map(\.push.apnsID) }

    @Test func `G25: of what came while a phone was out of reach it gets the newest, if that has not expired`() {
        let desk = Stand()
        #expect(Self.ids(desk.take(Self.push(0), at: Self.now)) == ["0"])
        _ = desk.set(.offline, of: Self.token, at: Self.now)
        for number in 1...3 { #expect(desk.take(Self.push(number), at: Self.now).isEmpty) }
        #expect(Self.ids(desk.set(.online, of: Self.token, at: Self.now)) == ["3"])
        #expect(desk.counters.delivered == 2 && desk.counters.discarded == [.replaced: 2])
        _ = desk.set(.offline, of: Self.token, at: Self.now)
        _ = desk.take(Self.push(4, expiration: Self.now.unixSeconds + 60), at: Self.now)
        #expect(desk.set(.online, of: Self.token, at: Self.now.advanced(bySeconds: 60)).isEmpty)
        #expect(desk.counters.discarded[.expired] == 1)
    }

    @Test func `G25: expiration 0 is never kept, and none is kept for thirty days`() {
        let desk = Stand()
        _ = desk.set(.offline, of: Self.token, at: Self.now)
        _ = desk.take(Self.push(1, expiration: 0), at: Self.now)
        #expect(desk.set(.online, of: Self.token, at: Self.now).isEmpty && desk.counters.discarded == [.notKept: 1])
        for (days, arrives) in [(29.0, true), (31, false)] {
            _ = desk.set(.offline, of: Self.token, at: Self.now)
            _ = desk.take(Self.push(2), at: Self.now)
            let later = Self.now.advanced(bySeconds: days * 86_400)
            #expect(desk.set(.online, of: Self.token, at: later).isEmpty != arrives)
        }
    }

    @Test func `G26: priority 10 wakes a phone at once, the others wait for a batch`() {
        let desk = Stand()
        _ = desk.set(.asleep, of: Self.token, at: Self.now)
        #expect(desk.take(Self.push(1, priority: 5), at: Self.now).isEmpty)
        #expect(desk.take(Self.push(2, priority: 5), at: Self.now.advanced(bySeconds: 30)).isEmpty)
        #expect(Self.ids(desk.take(Self.push(3), at: Self.now.advanced(bySeconds: 40))) == ["3"])
        #expect(desk.nextTime == Self.now.advanced(bySeconds: 60))
        #expect(desk.run(until: Self.now.advanced(bySeconds: 59)).isEmpty)
        #expect(Self.ids(desk.run(until: Self.now.advanced(bySeconds: 60))) == ["1", "2"])
    }

    @Test func `G26: in the chaos profile messages change places and an older one may stay, as the seed draws`() {
        var orders: Set<[String]> = []
        var kept: Set<[String]> = []
        for seed in 0..<40 as Range<UInt64> {
            var options = DeliveryDesk.Options()
            options.isChaotic = true
            let desk = Stand(options, seed: seed)
            _ = desk.set(.asleep, of: Self.token, at: Self.now)
            for number in 1...3 { _ = desk.take(Self.push(number, priority: 5), at: Self.now) }
            orders.insert(Self.ids(desk.run(until: Self.now.advanced(bySeconds: 60))))
            _ = desk.set(.offline, of: Self.token, at: Self.now)
            for number in 1...2 { _ = desk.take(Self.push(number), at: Self.now) }
            kept.insert(Self.ids(desk.set(.online, of: Self.token, at: Self.now)))
        }
        #expect(orders.count > 3 && orders.allSatisfy { $0.sorted() == ["1", "2", "3"] })
        #expect(kept == [["1"], ["2"]])
    }

    @Test func `G30: the log tells each push's fate by its unique id, and is bounded`() {
        var options = DeliveryDesk.Options()
        options.logKept = 2
        let desk = Stand(options)
        _ = desk.set(.offline, of: Self.token, at: Self.now)
        _ = desk.take(Self.push(1), uniqueID: "u1", at: Self.now)
        _ = desk.take(Self.push(2), uniqueID: "u2", at: Self.now)
        _ = desk.set(.online, of: Self.token, at: Self.now)
        #expect(desk.log.map(\.uniqueID) == ["u1", "u1", "u2", "u2"])
        #expect(desk.log.map(\.fate) == [.stored, .discarded(.replaced), .stored, .delivered])
        for number in 3..<50 { _ = desk.take(Self.push(number), at: Self.now) }
        #expect(desk.log.count <= 4)
    }
}
