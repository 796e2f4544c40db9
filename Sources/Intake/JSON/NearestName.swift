/// The name that was probably meant: the one with the fewest letters added, left out, changed or swapped.
///
/// - Returns: `nil` where none is close: more than a third of the longer one's letters would have to change. Equally near:
///   the first.
public func nearestName(to name: String, among names: some Sequence<String>) -> String? {
    let word = Array(name.lowercased().utf8.prefix(128))
    var best: (name: String, distance: Int)?
    for candidate in names {
        let other = Array(candidate.lowercased().utf8.prefix(128))
        let distance = distance(word, other)
        guard distance * 3 <= max(word.count, other.count), distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.name
}

/// Damerau and Levenshtein's, neighbours swapped once.
private func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (row, byte) in one.enumerated() {
        var next = [row + 1]
        for (column, otherByte) in other.enumerated() {
            var least = min(last[column + 1] + 1, next[column] + 1, last[column] + (byte == otherByte ? 0 : 1))
            if row > 0, column > 0, byte == other[column - 1], one[row - 1] == otherByte {
                least = min(least, before[column - 1] + 1)
            }
            next.append(least)
        }
        (before, last) = (last, next)
    }
    return last[other.count]
}
