public import HLSKitSelection

/// How the variant of an item is chosen.
///
/// See docs/behaviour/selection.md.
public enum VariantPolicy: Sendable, Hashable {
    /// The rule of the player, among those that may be used.
    case automatic
    /// The rule of the player, among those whose `BANDWIDTH` in bits per second is within; where none is, the lowest.
    case bounded(ClosedRange<Double>)
    /// The variant of this name (``AssetVariant/id``), from the next segment on, whatever limits there are. It stays the
    /// same where the playlist is loaded again, or the program changes it. Where there is no such variant the rule chooses.
    ///
    /// Media of another variant that is loaded already is played. With `flush`, what of it lies more than one segment
    /// ahead of the playhead is dropped and loaded again from this variant; playback continues meanwhile.
    case pinned(AssetVariant.ID, flush: Bool = false)
    /// The best of those that may be used, which is kept: for recordings, whose quality is not to change.
    ///
    /// Nothing is known of the network that counts: who cannot load it as fast as it plays waits. Another variant takes its
    /// place only where media would be lost: for a segment that it does not deliver, and, live, where the window is about
    /// to move past what was not loaded. When that is over it is taken up again.
    ///
    /// With `isFixed` no other takes its place once there is media of it; what it does not deliver is lost. For outputs
    /// that cannot hold a change.
    case best(isFixed: Bool = false)
}

/// Kinds of variants that are left out unless they are asked for.
///
/// See docs/behaviour/selection.md.
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Audio without loss: ALAC, FLAC, PCM.
    public static let lossless = VariantPreferences(rawValue: 1 << 0)
}
