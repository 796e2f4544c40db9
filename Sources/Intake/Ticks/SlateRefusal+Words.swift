public import CardRules

extension SlateChange.Refused {
    /// For people.
    public var words: String {
        switch self {
        case .incomplete(let key): "\(key): a game cannot be without it"
        case .slateFull: "as many games are held as may be, and none of them is over"
        }
    }
}
