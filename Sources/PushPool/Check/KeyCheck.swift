extension PushPool.Configuration.Key {
    /// Signs with the key as the pool would.
    /// - Throws: `ProviderKeyFault`, naming what is wrong with which key.
    public func check() throws(ProviderKeyFault) { _ = try ReadyKey(self) }
}
