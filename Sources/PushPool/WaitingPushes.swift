internal import CardRules
internal import Lanes
internal import PushWire

/// A push in the pool's hands.
struct HeldPush {
    let push: OutgoingPush
    /// Until then it may wait.
    let deadline: WallTime
    /// How often it was taken back from a connection as not sent.
    var moves = 0
    /// Whether it was refused for its provider token before.
    var wasTokenRefused = false

    /// After so many it ends as not sent.
    static let movesAtMost = 2
}

/// The pushes of one gateway that wait. Ends go before starts, those before updates of priority 10, those before the
/// rest (G7); within a class the oldest first, and what came back from a connection before all.
struct WaitingPushes {
    private var returned: [HeldPush] = []
    private var classes: [Line] = Array(repeating: Line(), count: 4)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ push: HeldPush) {
        count += 1
        classes[rank(of: push.push.request)].append(push)
    }

    mutating func giveBack(_ push: HeldPush) {
        count += 1
        returned.append(push)
    }

    mutating func next() -> HeldPush? {
        guard count > 0 else { return nil }
        count -= 1
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

    private func rank(of request: PushRequest) -> Int {
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
