import CardRules

/// Which value of `Tuning` a constant's name stands for.
///
/// Case, underscores and a leading `k` or `default` make no difference. A name is the last part of a key
/// (`marginPoints`), or carries the parts before it (`takeoverMarginPoints`). Where several keys end alike
/// (`gapSeconds`) the types around the constant decide: `enum Starts`, `struct StartTuning`. A last part of one word
/// (`overtime`) is so common that it counts only with its group around or before it.
struct TuningNames: Sendable {
    enum Match: Equatable, Sendable {
        case none
        case one(String)
        /// Their names; nothing around the constant says which.
        case several([String])
    }

    private struct Name: Sendable {
        let key: String
        /// In lower case; the last is what the value is called.
        let parts: [String]
        let isOneWord: Bool

        /// `takeovermarginpoints`, and with the groups' plural `s` left off.
        func joined(from first: Int) -> [String] {
            let groups = parts[first..<(parts.count - 1)]
            let last = parts[parts.count - 1]
            return [groups.joined() + last, groups.map(singular).joined() + last]
        }
    }

    private let names: [Name]

    init(_ keys: [String]) {
        names = keys.map { key in
            let parts = key.split(separator: ".").map(String.init)
            return Name(
                key: key, parts: parts.map { $0.lowercased() },
                isOneWord: !(parts.last ?? "").contains(where: \.isUppercase))
        }
    }

    func match(_ constant: SwiftConstant, isDuration: Bool) -> Match {
        let written = Self.spellings(of: constant.name)
        let spellings = isDuration ? written + written.map { $0 + "seconds" } : written
        let types = constant.types.map { plain($0) }
        var best: [String] = []
        var bestScore = -1
        for name in names {
            guard let score = score(of: name, spellings, types) else { continue }
            if score > bestScore {
                best = [name.key]
                bestScore = score
            } else if score == bestScore {
                best.append(name.key)
            }
        }
        return best.isEmpty ? .none : best.count == 1 ? .one(best[0]) : .several(best)
    }

    /// How many parts of the key the name and the types around it say; `nil` where the name is another one.
    private func score(of name: Name, _ spellings: [String], _ types: [String]) -> Int? {
        let all = name.parts.count
        for first in 0..<all {
            let isWhole = first == 0 && all > 1
            let isSaid = spellings.contains { spelling in
                name.joined(from: first).contains { isWhole ? spelling.hasSuffix($0) : spelling == $0 }
            }
            guard isSaid else { continue }
            let around = name.parts[..<first].count { part in
                types.contains { $0.contains(singular(part)) }
            }
            let score = all - first + around
            return score == 1 && name.isOneWord ? nil : score
        }
        return nil
    }

    private static func spellings(of name: String) -> [String] {
        var spellings = [plain(name)]
        for prefix in ["k", "default"] where name.hasPrefix(prefix) && name.count > prefix.count {
            let rest = name.dropFirst(prefix.count)
            if rest.first?.isUppercase ?? false || rest.first == "_" { spellings.append(plain(String(rest))) }
        }
        return spellings
    }
}

private func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" } }

/// `start` of `starts`.
private func singular(_ part: String) -> String {
    part.count > 3 && part.hasSuffix("s") ? String(part.dropLast()) : part
}
