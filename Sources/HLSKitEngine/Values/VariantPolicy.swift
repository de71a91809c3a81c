public import HLSKitSelection

/// The way the variant of an item is chosen.
public enum VariantPolicy: Sendable, Hashable {
    /// The player's rule chooses among the eligible variants.
    case automatic
    /// The player's rule chooses among the variants with a `BANDWIDTH` within these bounds.
    ///
    /// The bounds are in bits per second. If there is none, it uses the lowest variant.
    case bounded(ClosedRange<Double>)
    /// The variant with this ``AssetVariant/id`` is used from the next segment on, despite other limits.
    ///
    /// The variant does not change if the playlist is loaded again or modified by the app. If there is no such variant,
    /// the rule chooses.
    ///
    /// Loaded media of another variant is still played. With `flush`, media more than one segment ahead of the playhead
    /// is dropped and loaded again from this variant. Playback continues meanwhile.
    case pinned(AssetVariant.ID, flush: Bool = false)
    /// The best eligible variant is used throughout. This is for recordings whose quality should not change.
    ///
    /// The network is not taken into account: if it is too slow, playback waits. Another variant is used only if media
    /// would otherwise be lost. This is the case if the variant fails to deliver a segment. In a live stream, it is
    /// also the case if the window is about to move past media that was not loaded. Afterwards the best variant is used
    /// again.
    ///
    /// With `isFixed`, no other variant is used once media of it is loaded, and media that it fails to deliver is lost.
    /// Use this for outputs that do not support a change.
    case best(isFixed: Bool = false)
}

/// Kinds of variants that are excluded by default.
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Lossless audio: ALAC, FLAC, PCM.
    public static let lossless = VariantPreferences(rawValue: 1 << 0)
}
