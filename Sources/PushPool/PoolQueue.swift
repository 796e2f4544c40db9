import CardRules
import Lanes
import PushWire

/// A push on its way through the pool.
struct Flight {
    let push: OutgoingPush
    let deadline: WallTime
    /// How often it came back as certainly not sent.
    var returns = 0
}

/// Pushes waiting for a stream, by class: ends, starts, priority-10 updates, the rest (G7). First in, first out in each.
struct PoolQueue {
    private var classes = [Lane](repeating: Lane(), count: 4)
    private(set) var count = 0

    private struct Lane {
        var flights: [Flight?] = []
        var head = 0
    }

    mutating func append(_ flight: Flight) {
        classes[PoolQueue.rank(flight)].flights.append(flight)
        count += 1
    }

    mutating func popFirst() -> Flight? {
        for rank in classes.indices {
            while classes[rank].head < classes[rank].flights.count {
                let head = classes[rank].head
                let flight = classes[rank].flights[head]
                classes[rank].flights[head] = nil
                classes[rank].head += 1
                if classes[rank].head == classes[rank].flights.count { classes[rank] = Lane() }
                if let flight {
                    count -= 1
                    return flight
                }
            }
        }
        return nil
    }

    /// Takes out everything whose deadline has passed.
    mutating func removeExpired(at now: WallTime) -> [Flight] {
        var expired: [Flight] = []
        for rank in classes.indices {
            for index in classes[rank].flights.indices {
                if let flight = classes[rank].flights[index], flight.deadline <= now {
                    expired.append(flight)
                    classes[rank].flights[index] = nil
                    count -= 1
                }
            }
        }
        return expired
    }

    private static func rank(_ flight: Flight) -> Int {
        switch flight.push.request.event {
        case .end: 0
        case .start: 1
        case .update: flight.push.request.priority == .immediate ? 2 : 3
        }
    }
}
