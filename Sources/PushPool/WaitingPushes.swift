internal import CardRules
internal import Lanes
internal import PushWire

/// A push in the pool's hands.
struct HeldPush {
    let push: OutgoingPush
    /// Until then it may wait.
    let deadline: WallTime
    /// Rising with each push that the group takes in.
    let order: UInt64
    /// How often it was taken back from a connection as not sent.
    var moves = 0
    /// Whether it was refused for its provider token before.
    var wasTokenRefused = false

    /// After so many it ends as not sent. A gateway whose stream limit goes up and down refuses the same stream several
    /// times (ref T16), and each is no failure.
    static let movesAtMost = 10
}

/// The pushes of one gateway that wait. Ends go before starts, those before updates of priority 10, those before the
/// rest (G7); within a class the oldest first. What came back from a connection goes before all, in the same order: two
/// updates of one card do not change places.
struct WaitingPushes {
    /// Sorted when `isSorted`: the next one last.
    private var returned: [HeldPush] = []
    private var isSorted = true
    private var classes: [Line] = Array(repeating: Line(), count: 4)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ push: HeldPush) {
        count += 1
        classes[Self.rank(of: push.push.request)].append(push)
    }

    mutating func giveBack(_ push: HeldPush) {
        count += 1
        returned.append(push)
        isSorted = false
    }

    mutating func next() -> HeldPush? {
        guard count > 0 else { return nil }
        count -= 1
        if !isSorted {
            returned.sort { (Self.rank(of: $0.push.request), $0.order) > (Self.rank(of: $1.push.request), $1.order) }
            isSorted = true
        }
        if let push = returned.popLast() { return push }
        for index in classes.indices {
            if let push = classes[index].removeFirst() { return push }
        }
        return nil
    }

    /// Takes out what has waited too long.
    mutating func expire(at now: WallTime, _ take: (HeldPush) -> Void) {
        guard count > 0 else { return }
        for index in classes.indices {
            while let first = classes[index].first, first.deadline <= now, let push = classes[index].removeFirst() {
                count -= 1
                take(push)
            }
        }
        guard returned.contains(where: { $0.deadline <= now }) else { return }
        for push in returned where push.deadline <= now { take(push) }
        returned.removeAll { $0.deadline <= now }
        count = returned.count + classes.reduce(0) { $0 + $1.count }
    }

    private static func rank(of request: PushRequest) -> Int {
        switch request.event {
        case .end: 0
        case .start: 1
        case .update: request.priority == .immediate ? 2 : 3
        }
    }

    /// First in, first out, without moving the rest at each removal.
    private struct Line {
        private var items: [HeldPush] = []
        private var head = 0

        var count: Int { items.count - head }
        var first: HeldPush? { head < items.count ? items[head] : nil }

        mutating func append(_ push: HeldPush) { items.append(push) }

        mutating func removeFirst() -> HeldPush? {
            guard let push = first else { return nil }
            head += 1
            if head == items.count {
                items.removeAll(keepingCapacity: items.count < 4096)
                head = 0
            } else if head > 4096, head * 2 > items.count {
                items.removeFirst(head)
                head = 0
            }
            return push
        }
    }
}
