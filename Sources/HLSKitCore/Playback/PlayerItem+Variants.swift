extension PlayerItem {
    /// All reasons why a variant would not be chosen now: the item's settings, its outputs, the network, what failed of late,
    /// and what the playlist and this machine's codecs say. Empty where it may be chosen, where the item has no such
    /// variant, and before its variants are known.
    public func ineligibilityReasons(for variant: AssetVariant) -> [IneligibilityReason] {
        attachedCore?.read(of: self) { $0.ineligibilityReasons(for: variant.id) } ?? []
    }
}
