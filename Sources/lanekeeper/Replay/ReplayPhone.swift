import CardRules
import Intake

/// One phone of a replay: what its app reported, once, before the night.
struct ReplayPhone: Hashable, Sendable {
    var name: String
    var patch = DevicePatch()
    /// `nil`: ranked by personalisation, where there is one; else the games of the command line.
    var selection: SelectionBody?

    static let madeUpName = "phone"

    init(name: String = ReplayPhone.madeUpName) { self.name = name }

    /// The phones of a file: one object, or a list of them.
    ///
    /// - Throws: `WrongUse` naming the file, the line and the field.
    static func phones(in bytes: [UInt8], of path: String, zones: ZoneDirectory) throws(WrongUse) -> [ReplayPhone] {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(bytes, dialect: .lenient)
        } catch {
            let place = error.place(in: bytes.span)
            throw WrongUse("\(path):\(place.line): \(error) (column \(place.column))")
        }
        do throws(FieldFault) {
            let own = fileName(path)
            guard case .array(let elements) = document.root else {
                return [try ReplayPhone(document.root, at: .root, of: document, name: own, zones: zones)]
            }
            guard !elements.isEmpty else { throw FieldFault(.wrongValue(expected: "at least one phone"), at: .root) }
            var phones: [ReplayPhone] = []
            for (index, element) in elements.enumerated() {
                phones.append(
                    try ReplayPhone(
                        element, at: JSONPointer(["\(index)"]), of: document, name: "\(own) \(index + 1)",
                        zones: zones))
            }
            return phones
        } catch {
            throw WrongUse("\(path):\(document.line(of: error.pointer)): \(error)")
        }
    }

    private init(
        _ value: JSONValue, at pointer: JSONPointer, of document: JSONDocument, name: String, zones: ZoneDirectory
    ) throws(FieldFault) {
        var fields = try JSONFields(value, at: pointer)
        let given = try fields.given("name", expected: "a text of 1 to 64 bytes") { value in
            value.text.flatMap { (1...64).contains($0.utf8.count) ? $0 : nil }
        }
        self.name = given ?? name
        patch = try DeviceBody(taking: &fields, of: document, zones: zones).patch
        if let selection = fields.raw("selection"), selection != .null {
            self.selection = try SelectionBody(selection, at: pointer.appending("selection"), needsTime: false)
        }
        try fields.end()
    }

    /// `phones/mine.json` is `mine`.
    private static func fileName(_ path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        let stem = last.split(separator: ".").first.map(String.init)
        return stem ?? last
    }

    // MARK: - As the lane hears of it

    /// What the app reports: its own words, and of a phone that can get a card what they leave out.
    var registration: DevicePatch {
        var patch = patch
        if patch.user == .absent { patch.user = .value("owner") }
        if patch.osVersion == nil { patch.osVersion = OSVersion(major: 18, minor: 0) }
        if patch.pushToStart == .absent {
            patch.pushToStart = .value(PushAddress(token: [0xA0], gateway: .production))
        }
        return patch
    }

    /// The app's choice, if it makes one (A3).
    ///
    /// - Parameter following: what a phone follows whose file says nothing.
    func choice(following games: [GameID]) -> SelectionBody? {
        if let selection { return selection }
        switch patch.personalisation ?? .none {
        case .readable: return nil
        case .none, .unreadable: return SelectionBody(games: games)
        }
    }

    var zone: Zone { patch.zone ?? .utc }
    var isSpoilerFree: Bool { patch.spoilerFree ?? false }
}
