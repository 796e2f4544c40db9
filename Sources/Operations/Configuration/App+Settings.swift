internal import CardRules
internal import Intake
internal import PushWire

extension Configuration.App {
    static let settings: [Setting<Configuration.App>] = [
        .text(
            "id", \.id, "what devices call it", .atRestart, expected: "an id, 1 to 128 of A-Z a-z 0-9 . _ : -",
            parse: { AppID($0) }, print: { $0.text }
        ).required,
        .text(
            "bundleID", \.bundleID, "the iOS app's bundle id", .atRestart,
            expected: "a bundle id such as com.example.app", parse: bundleName, print: { $0 }
        ).required,
        .text(
            "teamID", \.teamID, "Apple's id of the team that owns the app", .atRestart, expected: appleIDExpected,
            parse: appleID, print: { $0 }
        ).required,
        .optionalText(
            "keyID", \.keyID, "the provider key's id, for both gateways", .atRestart, expected: appleIDExpected,
            where: { appleID($0) != nil }),
        .optionalFile("keyFile", \.keyFile, "the provider key, Apple's .p8", .atRestart),
        Setting(
            name: "gatewayKeys", purpose: "instead of keyID and keyFile: a key for each gateway", change: .atRestart,
            expected: "{production: {keyID, keyFile}, sandbox: {keyID, keyFile}}",
            inner: Configuration.GatewayKey.settings.map(\.note),
            read: { json, pointer, root, reading in
                guard case .object(let members) = json else {
                    return reading.wrong(json, at: pointer, expected: "an object with production, sandbox or both")
                }
                for member in members {
                    guard let gateway = Gateway(rawValue: member.key) else {
                        reading.fault(at: pointer.appending(member.key), "no such gateway; production or sandbox?")
                        continue
                    }
                    var key = Configuration.GatewayKey()
                    if member.value == .null { continue }
                    if reading.object(
                        member.value, at: pointer.appending(member.key), into: &key, Configuration.GatewayKey.settings)
                    {
                        root.gatewayKeys[gateway] = key
                    }
                }
            },
            shown: { root in
                .object(
                    Dictionary(
                        uniqueKeysWithValues: root.gatewayKeys.map {
                            ($0.key.rawValue, Configuration.GatewayKey.settings.shown($0.value))
                        }))
            }),
        .text(
            "slateAttributesType", \.slateAttributesType,
            "the Swift name of the app's attributes struct for slate cards, case-sensitive", .atRestart,
            expected: "the name of a Swift type", parse: { isSwiftName($0) ? $0 : nil }, print: { $0 }
        ).required,
        .alert(
            "texts.slateTitle", \.texts.slateTitle, "a slate's alert; {home} and {away} are the front's sides",
            fault: { $0.fault }),
        .alert("texts.slateBody", \.texts.slateBody, "and its second line", fault: { $0.fault }),
        .alert(
            "texts.sessionBody", \.texts.sessionBody, "a session's alert; {since} is when it began",
            fault: { $0.sessionFault }),
    ]

    static let example = JSONValue.object([
        "id": .string("lineup"), "bundleID": .string("com.example.lineup"), "teamID": .string("TEAM123456"),
        "keyID": .string("KEY1234567"), "keyFile": .string("AuthKey_KEY1234567.p8"),
        "slateAttributesType": .string("LineupAttributes"),
        "texts": .object([
            "slateTitle": .string("{away} at {home}"), "slateBody": .string("Worth watching now"),
            "sessionBody": .object(["locKey": .string("SINCE"), "locArgs": .array([.string("{since}")])]),
        ]),
    ])

    /// What its values together make impossible.
    func judge(at pointer: JSONPointer, _ reading: inout ConfigurationReading) {
        let hasOne = keyID != nil || keyFile != nil
        if hasOne, !gatewayKeys.isEmpty {
            reading.fault(
                at: pointer.appending("gatewayKeys"), "stands beside keyID and keyFile: it is one or the other")
        } else if !hasOne, gatewayKeys.isEmpty {
            reading.fault(at: pointer.appending("keyFile"), "is missing: keyID and keyFile, or gatewayKeys")
        } else if hasOne, keyID == nil || keyFile == nil {
            reading.fault(
                at: pointer.appending(keyID == nil ? "keyID" : "keyFile"), "is missing: keyID and keyFile go together")
        }
    }
}

extension Configuration.GatewayKey {
    static let settings: [Setting<Configuration.GatewayKey>] = [
        .text(
            "keyID", \.keyID, "the provider key's id", .atRestart, expected: appleIDExpected, parse: appleID,
            print: { $0 }
        ).required,
        Setting.file("keyFile", \.keyFile, "the provider key, Apple's .p8", .atRestart).required,
    ]
}

extension Configuration.APIKey {
    static let settings: [Setting<Configuration.APIKey>] = [
        .text(
            "name", \.name, "whose it is, for logs", .atRunTime, expected: "1 to 128 of A-Z a-z 0-9 . _ : -",
            parse: { AppID($0)?.text }, print: { $0 }
        ).required,
        .value(
            "scopes", \.scopes, "what it may do", .atRunTime, expected: "a list of \"feed\", \"devices\", \"admin\"",
            parse: { json in
                guard case .array(let elements) = json, !elements.isEmpty else { return nil }
                let scopes = elements.compactMap { $0.text.flatMap(APIScope.init) }
                return scopes.count == elements.count ? scopes : nil
            }, print: { .array($0.map { .string($0.rawValue) }) }
        ).required,
        .secret(
            "sha256", \.sha256, "SHA-256 of the key's text", .atRunTime, expected: "64 hex digits",
            parse: { bytes(fromHex: $0) }, print: { hex($0) }
        ).required,
    ]
}

extension Setting where Root == Configuration.App {
    /// A text, or one of the app's own by `{locKey, locArgs}`.
    fileprivate static func alert(
        _ name: String, _ path: Path<AlertText>, _ purpose: String,
        fault: @escaping @Sendable (AlertText) -> String?
    ) -> Setting {
        let expected = "a text, or {locKey, locArgs}"
        return Setting(
            name: name, purpose: purpose, change: .atRestart, expected: expected, isText: true,
            read: { json, pointer, root, reading in
                guard let text = AlertText(json) else { return reading.wrong(json, at: pointer, expected: expected) }
                if let fault = fault(text) { return reading.fault(at: pointer, fault) }
                root[keyPath: path] = text
            }, shown: { $0[keyPath: path].json })
    }
}

extension AlertText {
    fileprivate init?(_ json: JSONValue) {
        if let text = json.text {
            self = .plain(text)
            return
        }
        guard case .object(let members) = json, let key = json["locKey"]?.text else { return nil }
        var args: [String] = []
        for member in members where member.key != "locKey" {
            guard member.key == "locArgs", case .array(let elements) = member.value else { return nil }
            args = elements.compactMap(\.text)
            guard args.count == elements.count else { return nil }
        }
        self = .localized(key: key, args: args)
    }

    fileprivate var json: JSONValue {
        switch self {
        case .plain(let text): .string(text)
        case .localized(let key, let args):
            .object(["locKey": .string(key), "locArgs": .array(args.map { .string($0) })])
        }
    }
}

private let appleIDExpected = "10 of A-Z and 0-9"

private func appleID(_ text: String) -> String? {
    text.utf8.count == 10 && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) } ? text : nil
}

/// Letters, digits, `-` and `.` (Apple, CFBundleIdentifier).
private func bundleName(_ text: String) -> String? {
    let isGood = text.utf8.allSatisfy {
        (65...90).contains($0) || (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 46
    }
    return isGood && (1...155).contains(text.utf8.count) && text.contains(".") && !text.hasPrefix(".") ? text : nil
}

private func isSwiftName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, (1...200).contains(text.utf8.count) else { return false }
    return !("0"..."9").contains(first)
        && text.unicodeScalars.allSatisfy {
            $0 == "_" || $0 == "." || $0.properties.isAlphabetic || ("0"..."9").contains($0)
        }
}

/// 32 bytes.
private func bytes(fromHex text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 64, by: 2) {
        guard let high = hexValue(digits[index]), let low = hexValue(digits[index + 1]) else { return nil }
        bytes.append(high << 4 | low)
    }
    return bytes
}

private func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// Lower-case hex.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 48 + digit : 87 + digit) }
    }
    return String(decoding: text, as: UTF8.self)
}
