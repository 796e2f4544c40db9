public import CardRules
internal import Lanes

/// The body of `POST /v1/moments` (api.md): a made-up moment for some phones.
public struct MomentBody: Hashable, Sendable {
    public var game: GameID
    public var kind: MomentKind
    public var seconds: Double
    /// In the caller's order, each once; at least one.
    public var devices: [DeviceID]

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        game = try fields.needed("game", expected: identifierExpected) { $0.text.flatMap { GameID($0) } }
        let kinds = MomentKind.allCases.map(\.rawValue).joined(separator: ", ")
        kind = try fields.needed("kind", expected: "one of \(kinds)") { $0.text.flatMap { MomentKind(rawValue: $0) } }
        seconds = try fields.needed("seconds", expected: MomentBody.secondsExpected) { value in
            value.double.flatMap { Supervisor.momentSeconds.contains($0) ? $0 : nil }
        }
        let expected = "a list of 1 to \(Supervisor.momentDevices) ids of devices"
        devices = try fields.needed("devices", expected: expected) { value in
            guard case .array(let elements) = value, (1...Supervisor.momentDevices).contains(elements.count) else {
                return nil
            }
            var devices: [DeviceID] = []
            for element in elements {
                guard let device = element.text.flatMap({ DeviceID($0) }) else { return nil }
                if !devices.contains(device) { devices.append(device) }
            }
            return devices
        }
        try fields.end()
    }

    private static let secondsExpected =
        "\(Int(Supervisor.momentSeconds.lowerBound)) to \(Int(Supervisor.momentSeconds.upperBound)) seconds"
}

/// The body of `POST /v1/probes`.
public struct ProbeBody: Hashable, Sendable {
    public var device: DeviceID
    /// `nil`: the one that the device's token belongs to.
    public var gateway: Gateway?

    /// - Throws: for the first field at fault. The caller answers 422.
    public init(_ document: JSONDocument) throws(FieldFault) {
        var fields = try JSONFields(document.root)
        device = try fields.needed("device", expected: identifierExpected) { $0.text.flatMap { DeviceID($0) } }
        let named = try fields.take("gateway", expected: "\(gatewayExpected), or null") {
            $0.text.flatMap { Gateway(rawValue: $0) }
        }
        if case .value(let named) = named { gateway = named }
        try fields.end()
    }
}
