import CardRules

extension DeviceID: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(unchecked: value) }
}
extension GameID: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(unchecked: value) }
}
extension ActivityID: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(unchecked: value) }
}
extension CardKey: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(unchecked: value) }
}
