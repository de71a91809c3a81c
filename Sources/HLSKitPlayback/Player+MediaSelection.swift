import HLSKitEngine
public import HLSKitSelection

/// Which audio and subtitles are played where the user chose none for the item.
///
/// See docs/behaviour/media-selection.md.
extension Player {
    /// Follow the criteria, and the playlist's defaults where there are none. Off, each group's default is played, and
    /// no subtitles. Default true.
    public var appliesMediaSelectionCriteriaAutomatically: Bool {
        get { core.read { $0.mediaSelection.isAutomatic } }
        set { core.controlAll(.setAppliesMediaSelectionCriteria(newValue)) }
    }

    /// Sets the criteria for a group. Takes effect at once, unless the item's user has chosen an option.
    ///
    /// - Parameters:
    ///   - criteria: nil leaves it to the playlist.
    ///   - characteristic: `audible`, `legible` or `visual`.
    public func setMediaSelectionCriteria(
        _ criteria: MediaSelectionCriteria?, for characteristic: MediaCharacteristic
    ) {
        core.controlAll(.setMediaSelectionCriteria(characteristic, criteria))
    }

    /// The criteria for a group; nil if it is left to the playlist.
    public func mediaSelectionCriteria(for characteristic: MediaCharacteristic) -> MediaSelectionCriteria? {
        core.read { $0.mediaSelection.criteria[characteristic] }
    }
}
