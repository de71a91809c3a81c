import HLSKitEngine
public import HLSKitSelection

extension PlayerItem {
    /// Selects an option of a group.
    ///
    /// You can call this method at any time. Playback continues, and neither status nor timebase changes. New audio
    /// plays as soon as it is loaded, within about one target duration. When subtitles change, current cues disappear
    /// at once.
    ///
    /// - Parameters:
    ///   - option: The option, or `nil` to select none if the group allows that.
    ///   - group: The group, as returned by ``Asset/loadMediaSelectionGroup(for:)``.
    /// - Returns: `false`, without any change, if the option is not in the group or cannot be played, or if the group
    ///   does not allow an empty selection.
    @discardableResult
    public func select(_ option: MediaSelectionOption?, in group: MediaSelectionGroup) -> Bool {
        if let option {
            guard group.options.contains(option), option.isPlayable else { return false }
        } else if !group.allowsEmptySelection {
            return false
        }
        choose(option.map { .option($0.id) } ?? .none, of: group.characteristic)
        return true
    }

    /// Lets the player's criteria select the option of a group again.
    public func selectMediaOptionAutomatically(in group: MediaSelectionGroup) {
        choose(.automatic, of: group.characteristic)
    }

    /// The media selection group of a characteristic, or `nil` if there is none.
    ///
    /// The group is also `nil` until the player has loaded the multivariant playlist. If the playlist does not name the
    /// audio, its options become available with the first segment. ``Asset/loadMediaSelectionGroup(for:)`` loads the
    /// playlist if necessary.
    public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        attachedCore?.read(of: self) { $0.mediaSelection.groups[characteristic] }
    }

    /// The current selection.
    ///
    /// It is empty until the multivariant playlist is loaded or, for media without one, the first segment.
    public var currentMediaSelection: MediaSelection {
        attachedCore?.read(of: self) { $0.mediaSelection.current } ?? MediaSelection()
    }
}
