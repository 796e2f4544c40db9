public import CardRules

/// Values of `Tuning` as people write them (JSON5): the nested object of the configuration, bare or under `tuning`.
public enum TuningText {
    /// The defaults, with the file's values in their place.
    ///
    /// A whole configuration will do too: what stands beside `tuning` is not looked at, unless it is a group of tuning
    /// values that was put one level too high.
    public static func read(_ bytes: [UInt8]) throws(TuningTextFault) -> Tuning {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(bytes, dialect: .lenient)
        } catch {
            let place = error.place(in: bytes.span)
            throw TuningTextFault(line: place.line, column: place.column, what: "\(error)")
        }
        guard let below = document.root["tuning"] else { return try tuning(document.root, at: .root, in: document) }
        if case .object(let members) = document.root,
            let stray = members.first(where: { groups.contains($0.key) })
        {
            throw TuningTextFault(
                line: document.line(of: JSONPointer([stray.key])), what: "\(stray.key): belongs inside tuning")
        }
        return try tuning(below, at: JSONPointer(["tuning"]), in: document)
    }

    /// The defaults, with the values of one part of a document in their place.
    public static func tuning(
        _ value: JSONValue, at pointer: JSONPointer, in document: JSONDocument
    ) throws(TuningTextFault) -> Tuning {
        do throws(TuningPlaceFault) {
            return try tuning(value, at: pointer)
        } catch {
            throw TuningTextFault(line: document.line(of: error.pointer), what: "\(error)")
        }
    }

    /// The defaults, with the values of a tree in their place that no one text has as a whole.
    public static func tuning(_ value: JSONValue, at pointer: JSONPointer) throws(TuningPlaceFault) -> Tuning {
        do throws(TuningFault) {
            return try Tuning(value)
        } catch {
            var what = String("\(error)".dropFirst("tuning\(error.key.isEmpty ? "" : "."): ".count + error.key.count))
            if case .unknownKey(let key) = error, let nearest = nearestName(to: key, among: names) {
                what += "; \(nearest)?"
            }
            throw TuningPlaceFault(
                pointer: JSONPointer(pointer.steps + value.way(to: error.key)), key: error.key, what: what)
        }
    }

    private static let names = TuningKey.all.map(\.name)

    /// The first parts of the names: `night`, `starts`, ...
    private static let groups = Set(names.compactMap { $0.split(separator: ".").first.map(String.init) })
}

/// Why a text is no tuning: one line for people, and where.
public struct TuningTextFault: Error, Hashable, Sendable {
    /// From 1.
    public let line: Int
    /// From 1, in characters; `nil` where a whole value is meant.
    public let column: Int?
    /// Names the key: `tuning.reissue.afterSecond: no such key; reissue.afterSeconds?`
    public let what: String

    public init(line: Int, column: Int? = nil, what: String) {
        self.line = line
        self.column = column
        self.what = what
    }
}

extension TuningTextFault: CustomStringConvertible {
    /// `12: tuning.card.maxGames: must be a whole number, 1 to 20`; the caller puts the file's name in front.
    public var description: String { "\(line): \(what)" + (column.map { " (column \($0))" } ?? "") }
}

/// Which value of a tree is no tuning, and why.
public struct TuningPlaceFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let pointer: JSONPointer
    /// Dotted, below `tuning`; empty for the whole.
    public let key: String
    /// Without the key: `no such key; reissue.afterSeconds?`
    public let what: String

    public var description: String { "tuning\(key.isEmpty ? "" : ".")\(key): \(what)" }
}

extension JSONValue {
    /// The steps to a dotted name: keys may have dots of their own. As far as there is such a value.
    fileprivate func way(to name: String) -> [String] {
        guard case .object(let members) = self else { return [] }
        for member in members {
            if member.key == name { return [member.key] }
            if name.hasPrefix("\(member.key).") {
                return [member.key] + member.value.way(to: String(name.dropFirst(member.key.count + 1)))
            }
        }
        return []
    }
}
