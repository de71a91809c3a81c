public import HLSKitSelection

/// Captions of the program's own, beside what the stream has.
extension PlayerItem {
    /// Options that the legible group has besides those of the stream, after them. They are chosen as those are: by
    /// ``select(_:in:)``, by ``PlayerItem/subtitles``, and by criteria. Of two with the same name and language
    /// the first is used. Empty by default.
    ///
    /// ``mediaSelectionGroup(for:)`` has them, and not ``Asset/loadMediaSelectionGroup(for:)``. May be set at any time. Cues
    /// of captions that are taken away leave at once.
    public var sidecarCaptions: [SidecarCaptions] {
        get { wishes.sidecars }
        set { setSidecars(newValue) }
    }
}
