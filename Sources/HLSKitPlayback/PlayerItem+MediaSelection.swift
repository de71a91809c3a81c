import HLSKitEngine
public import HLSKitSelection

/// Audio, subtitles and video among which the viewer can choose.
///
/// See docs/behaviour/media-selection.md.
extension PlayerItem {
    /// Selects an option of a group, at any time. Playback continues: neither status nor timebase changes. Another
    /// audio is heard as soon as it is loaded, within about one target duration; cues of other subtitles leave at once.
    ///
    /// - Parameters:
    ///   - option: nil selects none, where the group allows that.
    ///   - group: as ``Asset/loadMediaSelectionGroup(for:)`` gives it.
    /// - Returns: false, and nothing changes, where the option is not of the group or cannot be played, or where the
    ///   group does not allow to select none.
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

    /// Leaves the choice to the criteria of the player again.
    public func selectMediaOptionAutomatically(in group: MediaSelectionGroup) {
        choose(.automatic, of: group.characteristic)
    }

    /// The group of a characteristic, as far as the player has loaded the multivariant playlist; nil before, and where
    /// there is none. Audio that no playlist names has its options with the first segment.
    /// ``Asset/loadMediaSelectionGroup(for:)`` loads what it needs.
    public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
        attachedCore?.read(of: self) { $0.mediaSelection.groups[characteristic] }
    }

    /// The current selection; empty until the multivariant playlist, or the first segment of media without one, is there.
    public var currentMediaSelection: MediaSelection {
        attachedCore?.read(of: self) { $0.mediaSelection.current } ?? MediaSelection()
    }
}
