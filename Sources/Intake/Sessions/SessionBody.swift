public import CardRules

/// The body of `PUT /v1/sessions/{session}` (api.md). What the system alone can judge, such as sizes, it does not.
public struct SessionBody: Hashable, Sendable {
    public var terms: SessionTerms

    /// Of `title`, and of each text of an alert.
    public static let maximumTextBytes = 1024

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        let devices = try fields.needed("devices", expected: SessionBody.devicesExpected, SessionBody.devices)
        guard !devices.isEmpty else {
            throw FieldFault(
                .wrongValue(expected: SessionBody.devicesExpected), at: fields.pointer.appending("devices"))
        }
        let type = try fields.needed("attributesType", expected: SessionBody.textExpected, SessionBody.text)
        let attributes = try fields.needed("attributes", expected: "an object", SessionBody.object)
        let content = try fields.needed("content", expected: "an object", SessionBody.object)
        let title = try fields.needed("title", expected: SessionBody.textExpected, SessionBody.text)
        let startedAt = try fields.needed("startedAt", expected: unixSecondsExpected) { $0.wallTime }
        terms = SessionTerms(
            devices: devices, attributesType: type, attributes: attributes, content: content, title: title,
            startedAt: startedAt)
        terms.alert = try SessionBody.alert(&fields)
        terms.isUrgent = try fields.flag("urgent") ?? false
        terms.startedOn =
            try fields.given("startedOn", expected: "a list of ids of devices", SessionBody.devices) ?? []
        try fields.end()
    }

    /// The body of `DELETE /v1/sessions/{session}`: what the card shows last.
    ///
    /// - Returns: `nil` where it is to show what it shows now.
    public static func lastContent(_ document: JSONDocument) throws(FieldFault) -> JSONValue? {
        var fields = try JSONFields(document.root)
        let content = try fields.given("content", expected: "an object", object)
        try fields.end()
        return content
    }

    private static func alert(_ fields: inout JSONFields) throws(FieldFault) -> SessionAlert? {
        guard let value = fields.raw("alert"), value != .null else { return nil }
        var alert = try JSONFields(value, at: fields.pointer.appending("alert"))
        let title = try alert.needed("title", expected: textExpected, text)
        let body = try alert.needed("body", expected: textExpected, text)
        try alert.end()
        return SessionAlert(title: title, body: body)
    }

    private static let devicesExpected = "a list of 1 to \(SessionTerms.maxDevices) ids of devices"
    private static let textExpected = "a text of 1 to \(maximumTextBytes) bytes"

    private static func text(_ value: JSONValue) -> String? {
        guard let text = value.text, (1...maximumTextBytes).contains(text.utf8.count) else { return nil }
        return text
    }

    private static func object(_ value: JSONValue) -> JSONValue? {
        if case .object = value { value } else { nil }
    }

    private static func devices(_ value: JSONValue) -> [DeviceID]? {
        guard case .array(let elements) = value, elements.count <= SessionTerms.maxDevices else { return nil }
        var devices: [DeviceID] = []
        for element in elements {
            guard let device = element.text.flatMap({ DeviceID($0) }) else { return nil }
            devices.append(device)
        }
        return devices
    }
}
