internal import CardRules

/// What will happen, by time: a binary heap. Of events at one time the order is the one in which they were added.
struct EventQueue<Event> {
    private var heap: [Entry] = []
    private var added = 0

    private struct Entry {
        let at: WallTime
        let number: Int
        let event: Event

        func isBefore(_ other: Entry) -> Bool { (at, number) < (other.at, other.number) }
    }

    var next: WallTime? { heap.first?.at }

    mutating func add(_ event: Event, at time: WallTime) {
        added += 1
        heap.append(Entry(at: time, number: added, event: event))
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst(until time: WallTime) -> Event? {
        guard let first = heap.first, first.at <= time else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(0)
        return first.event
    }

    /// Takes out what is not to happen any more.
    /// - Returns: what was taken out, in no order.
    mutating func remove(where isGone: (Event) -> Bool) {
        heap.removeAll { isGone($0.event) }
        for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[least])
            {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
