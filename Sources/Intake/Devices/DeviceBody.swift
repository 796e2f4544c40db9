public import CardRules

/// The body of `PUT /v1/devices/{device}` (api.md): what an app says of its device.
public struct DeviceBody: Hashable, Sendable {
    /// `nil` where it was left out: right when one app is served.
    public var app: AppID?
    public var patch: DevicePatch

    /// Names and versions are short.
    public static let maximumTextBytes = 256

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument, zones: ZoneDirectory) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        try self.init(taking: &fields, of: document, zones: zones)
        try fields.end()
    }

    /// Takes the fields of a device from an object that has others too.
    public init(
        taking fields: inout JSONFields, of document: JSONDocument, zones: ZoneDirectory
    ) throws(FieldFault) {
        app = try fields.given("app", expected: identifierExpected) { $0.text.flatMap { AppID($0) } }
        patch = DevicePatch()
        patch.user = try fields.take("user", expected: DeviceBody.textExpected, DeviceBody.shortText)
        patch.pushToStart = try DeviceBody.pushToStart(&fields)
        patch.osVersion = try fields.given("osVersion", expected: "a version such as \"17.2\"") {
            DeviceBody.shortText($0).flatMap { OSVersion($0) }
        }
        patch.appVersion = try fields.given("appVersion", expected: DeviceBody.textExpected, DeviceBody.shortText)
        patch.zone = try fields.given("timeZone", expected: "a time zone such as \"Europe/Berlin\"") {
            $0.text.flatMap { zones.zone(named: $0) }
        }
        patch.quietHours = try DeviceBody.quietHours(&fields)
        patch.spoilerFree = try fields.flag("spoilerFree")
        patch.sound = try fields.flag("sound")
        patch.frequentUpdates = try fields.flag("frequentUpdates")
        if let value = fields.raw("personalisation") {
            patch.personalisation = Personalisation(
                value, text: { document.text(of: fields.pointer.appending("personalisation")) })
        }
    }

    /// A token belongs to the gateway named beside it, and is nothing without (G1). A gateway without a token says
    /// nothing.
    private static func pushToStart(_ fields: inout JSONFields) throws(FieldFault) -> Patched<PushAddress> {
        let gateway = try fields.given("gateway", expected: "\"production\" or \"sandbox\"") {
            $0.text.flatMap { Gateway(rawValue: $0) }
        }
        let expected = "an even number of hex digits, 2 to 400, or null"
        let token = try fields.take("pushToStartToken", expected: expected) { value in
            value.text.flatMap { PushAddress(hex: $0, gateway: gateway ?? .production) }
        }
        if case .value = token, gateway == nil {
            throw FieldFault(
                .missing(expected: "a token comes with its gateway"), at: fields.pointer.appending("gateway"))
        }
        return token
    }

    private static func quietHours(_ fields: inout JSONFields) throws(FieldFault) -> Patched<QuietHours> {
        let key = "quietHours"
        guard let value = fields.raw(key) else { return .absent }
        guard value != .null else { return .null }
        var hours = try JSONFields(value, at: fields.pointer.appending(key))
        let from = try minute("from", &hours)
        let to = try minute("to", &hours)
        try hours.end()
        guard let quiet = QuietHours(fromMinute: from, toMinute: to) else {
            throw FieldFault(.wrongValue(expected: "two different times"), at: hours.pointer)
        }
        return .value(quiet)
    }

    private static func minute(_ key: String, _ fields: inout JSONFields) throws(FieldFault) -> Int {
        let expected = "HH:MM, \"00:00\" to \"23:59\""
        guard let minute = try fields.given(key, expected: expected, { $0.text.flatMap(minuteOfDay) }) else {
            throw FieldFault(.missing(expected: expected), at: fields.pointer.appending(key))
        }
        return minute
    }

    private static let textExpected = "a text of 1 to \(maximumTextBytes) bytes"

    private static func shortText(_ value: JSONValue) -> String? {
        guard let text = value.text, (1...maximumTextBytes).contains(text.utf8.count) else { return nil }
        return text
    }
}

extension JSONDocument {
    /// A value as it was written.
    fileprivate func text(of pointer: JSONPointer) -> String {
        String(decoding: range(of: pointer).map { bytes[$0] } ?? [], as: UTF8.self)
    }
}
