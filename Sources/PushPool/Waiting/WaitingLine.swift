internal import Lanes

/// A place in a line. It counts only as long as the push it names still has this ticket: whatever leaves a line other than
/// at its head is only forgotten, not searched for.
struct LinePlace: Equatable, Sendable {
    let push: PushID
    let ticket: UInt32
    /// Rising with each push taken in: what came back stands where it stood.
    let order: UInt64
    let deadline: SteadyTime
}

/// Pushes of one rank that wait, first in, first out. What came back from a connection goes before the rest, in its old
/// order.
struct WaitingLine: Sendable {
    /// Sorted when `isSorted`: the next one last.
    private var returned: [LinePlace] = []
    private var isSorted = true
    private var items: [LinePlace] = []
    private var head = 0

    var first: LinePlace? {
        mutating get {
            sort()
            return returned.last ?? (head < items.count ? items[head] : nil)
        }
    }

    mutating func append(_ place: LinePlace) { items.append(place) }

    mutating func giveBack(_ place: LinePlace) {
        returned.append(place)
        isSorted = returned.count == 1
    }

    mutating func removeFirst() {
        sort()
        if returned.popLast() != nil { return }
        guard head < items.count else { return }
        head += 1
        if head == items.count {
            items.removeAll(keepingCapacity: items.count < 4096)
            head = 0
        } else if head > 4096, head * 2 > items.count {
            items.removeFirst(head)
            head = 0
        }
    }

    /// Takes out all that is left.
    mutating func removeAll() -> [LinePlace] {
        sort()
        let all = returned.reversed() + items[head...]
        self = WaitingLine()
        return Array(all)
    }

    private mutating func sort() {
        guard !isSorted else { return }
        returned.sort { $0.order > $1.order }
        isSorted = true
    }
}

/// Places with a time before which nothing happens, the earliest first: a binary heap.
struct ParkedPushes: Sendable {
    private var heap: [(due: SteadyTime, place: LinePlace)] = []

    var earliest: SteadyTime? { heap.first?.due }
    var count: Int { heap.count }

    mutating func insert(_ place: LinePlace, until due: SteadyTime) {
        heap.append((due, place))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst(dueBy now: SteadyTime) -> LinePlace? {
        guard let first = heap.first, first.due <= now else { return nil }
        return removeFirst()
    }

    mutating func removeFirst() -> LinePlace? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return first.place }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].due.nanoseconds, heap[left].place.order) < (heap[right].due.nanoseconds, heap[right].place.order)
    }
}
