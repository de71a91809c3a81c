import HLSKitEngine
public import HLSKitSelection

extension PlayerItem {
    /// Where media is loaded from: `PATHWAY-ID` of the variant, `.` where it has none and others have; without any, the origin
    /// of its media playlist, `https://cdn.example.com`. nil before a variant was chosen, and where all variants come from
    /// one place and nobody steers.
    ///
    /// See ``PlayerEvent/Kind-swift.enum/pathwayChanged(from:to:reason:)``.
    public var pathway: String? { snapshot.pathway }

    /// A pathway to use before all others, as ``pathway`` names it; nil, the default, leaves the order to the steering server
    /// and the playlist. While it has failed of late, others are used. Takes effect at the next segment; a name that the item
    /// does not have changes nothing.
    public var preferredPathway: String? {
        get { preferences.preferredPathway }
        set { changePreferences { $0.preferredPathway = newValue } }
    }

    /// All reasons why a variant would not be chosen now: the item's settings, its outputs, the network, what failed of late,
    /// and what the playlist and this machine's codecs say. Empty where it may be chosen, where the item has no such
    /// variant, and before its variants are known.
    public func ineligibilityReasons(for variant: AssetVariant) -> [IneligibilityReason] {
        attachedCore?.read(of: self) { $0.ineligibilityReasons(for: variant.id) } ?? []
    }
}
