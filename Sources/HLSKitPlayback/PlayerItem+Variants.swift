import HLSKitEngine
public import HLSKitSelection

extension PlayerItem {
    /// The name of the pathway that media is loaded from, or `nil` if there is only one or none is chosen yet.
    ///
    /// The name is the `PATHWAY-ID` of the variant. If only other variants have one, the name is `.`. If no variant has
    /// one, the name is the origin of the variant's media playlist, such as `https://cdn.example.com`. The pathway is
    /// `nil` until a variant is chosen. It is also `nil` if all variants have the same origin and there is no content
    /// steering.
    ///
    /// See ``PlayerEvent/Kind-swift.enum/pathwayChanged(from:to:reason:)``.
    public var pathway: String? { snapshot.pathway }

    /// The name of the pathway to prefer, as in ``pathway``.
    ///
    /// The default, `nil`, leaves the order to the steering server and the playlist. The player uses other pathways if
    /// the preferred one has recently failed. A change takes effect at the next segment. A name that the item does not
    /// have has no effect.
    public var preferredPathway: String? {
        get { preferences.preferredPathway }
        set { changePreferences { $0.preferredPathway = newValue } }
    }

    /// Returns all reasons why the player would currently not choose a variant.
    ///
    /// Reasons include the item's settings, its outputs, the network, recent failures, the playlist, and this machine's
    /// codecs. The result is empty if the variant is eligible. It is also empty if the item does not have the variant,
    /// or its variants are not known yet.
    public func ineligibilityReasons(for variant: AssetVariant) -> [IneligibilityReason] {
        attachedCore?.read(of: self) { $0.ineligibilityReasons(for: variant.id) } ?? []
    }

    /// The variants that a viewer can choose, the lowest quality first. Empty until they are known.
    package var selectableVariants: [AssetVariant] {
        attachedCore?.read(of: self) { $0.selectableVariants } ?? []
    }
}
