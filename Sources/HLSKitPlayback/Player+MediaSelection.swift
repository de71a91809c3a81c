import HLSKitEngine
public import HLSKitSelection

extension Player {
    /// A Boolean value that indicates whether the player applies its media selection criteria.
    ///
    /// If there are no criteria, the defaults of the playlist apply. If `false`, the player uses the default option of
    /// each group and no subtitles. The default is `true`.
    public var appliesMediaSelectionCriteriaAutomatically: Bool {
        get { core.read { $0.mediaSelection.isAutomatic } }
        set { core.controlAll(.setAppliesMediaSelectionCriteria(newValue)) }
    }

    /// Sets the criteria for a media selection group.
    ///
    /// The criteria take effect at once, unless an option of the group has been selected for the item.
    ///
    /// - Parameters:
    ///   - criteria: The criteria, or `nil` to use the defaults of the playlist.
    ///   - characteristic: The group: `audible`, `legible` or `visual`.
    public func setMediaSelectionCriteria(
        _ criteria: MediaSelectionCriteria?, for characteristic: MediaCharacteristic
    ) {
        core.controlAll(.setMediaSelectionCriteria(characteristic, criteria))
    }

    /// The criteria for a media selection group, or `nil` if the defaults of the playlist apply.
    public func mediaSelectionCriteria(for characteristic: MediaCharacteristic) -> MediaSelectionCriteria? {
        core.read { $0.mediaSelection.criteria[characteristic] }
    }
}
