public import HLSKitSelection

extension PlayerItem {
    /// Caption options that the app adds to the legible group, after the options of the stream.
    ///
    /// They are selected in the same way: by ``select(_:in:)``, by ``PlayerItem/subtitles`` and by criteria. If two
    /// options have the same name and language, the first one is used. ``mediaSelectionGroup(for:)`` contains these
    /// options, but ``Asset/loadMediaSelectionGroup(for:)`` does not.
    ///
    /// You can set this property at any time. When you remove captions, their cues disappear at once. The default is
    /// empty.
    public var sidecarCaptions: [SidecarCaptions] {
        get { loadSettings.sidecars }
        set { setSidecars(newValue) }
    }
}
