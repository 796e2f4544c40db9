/// Which moments of a game are on.
public struct MomentSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ kind: MomentKind) { rawValue = 1 << kind.place }

    /// Strongest boost first (T2); equal boosts in the order of `MomentKind.allCases`.
    public func kinds(by boosts: Tuning.Boosts) -> [MomentKind] {
        guard !isEmpty else { return [] }
        return MomentKind.allCases.filter { contains(MomentSet($0)) }
            .sorted { (boosts[$0], $1.place) > (boosts[$1], $0.place) }
    }
}

extension MomentKind {
    /// Its place in `allCases`, 0...5.
    var place: Int {
        switch self {
        case .overtime: 0
        case .shootout: 1
        case .walkOffChance: 2
        case .closeFinish: 3
        case .comeback: 4
        case .upset: 5
        }
    }
}
