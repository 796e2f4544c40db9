internal import CardRules

/// When each phone acts next: a binary heap by time, then number. An entry that is out of date is skipped when it
/// comes up.
struct TimeQueue: Sendable {
    private var heap: [Entry] = []

    private struct Entry: Comparable {
        let at: WallTime
        let phone: Int

        static func < (left: Entry, right: Entry) -> Bool { (left.at, left.phone) < (right.at, right.phone) }
    }

    var next: WallTime? { heap.first?.at }

    mutating func insert(_ phone: Int, at time: WallTime) {
        heap.append(Entry(at: time, phone: phone))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst(until time: WallTime) -> (at: WallTime, phone: Int)? {
        guard let first = heap.first, first.at <= time else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.at, first.phone)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
