public import CardRules
public import Intake
public import PushWire

extension Configuration {
    /// One iOS app served. Its key signs for both gateways, or each gateway has its own.
    public struct App: Hashable, Sendable {
        public var id = AppID(unchecked: "")
        public var bundleID = ""
        public var teamID = ""
        public var keyID: String?
        public var keyFile: ConfiguredFile?
        public var gatewayKeys: [Gateway: GatewayKey] = [:]
        public var slateAttributesType = ""
        public var texts = AlertTexts()

        public init() {}

        /// What its payloads must know of it.
        public var profile: AppProfile {
            AppProfile(id: id, bundleID: bundleID, slateAttributesType: slateAttributesType, texts: texts)
        }

        /// The key that signs for a gateway; `nil` where there is none.
        public func key(for gateway: Gateway) -> GatewayKey? {
            if let own = gatewayKeys[gateway] { return own }
            guard let keyID, let keyFile else { return nil }
            return GatewayKey(keyID: keyID, keyFile: keyFile)
        }
    }

    /// A provider key and where it lies.
    public struct GatewayKey: Hashable, Sendable {
        /// 10 characters.
        public var keyID = ""
        /// Apple's `.p8`.
        public var keyFile = ConfiguredFile(written: "", below: "")

        init() {}

        init(keyID: String, keyFile: ConfiguredFile) { (self.keyID, self.keyFile) = (keyID, keyFile) }
    }

    /// A key of the HTTP API: only its digest is known here.
    public struct APIKey: Hashable, Sendable {
        public var name = ""
        public var scopes: [APIScope] = []
        /// SHA-256 of the key's text, 32 bytes.
        public var sha256 = Secret<[UInt8]>([])

        public init() {}
    }
}
