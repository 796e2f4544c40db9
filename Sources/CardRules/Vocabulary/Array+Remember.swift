extension Array where Element: Equatable {
    /// At the end, unless it is there; the oldest go beyond that count.
    mutating func remember(_ element: Element, atMost kept: Int) {
        guard !contains(element) else { return }
        append(element)
        removeFirst(Swift.max(0, count - kept))
    }
}
