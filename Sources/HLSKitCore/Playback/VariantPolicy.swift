/// Who chooses the variant of an item.
///
/// Source: CONTRACTS §8.
public enum VariantPolicy: Sendable, Hashable {
    /// The rule of the player, among those that may be used.
    case automatic
    /// The rule of the player, among those whose `BANDWIDTH` in bits per second is within; where none is, the lowest.
    case bounded(ClosedRange<Double>)
    /// The variant at this position of the multivariant playlist, from the next segment on, whatever limits there are.
    /// Where there is no such variant the rule chooses.
    ///
    /// Media of another variant that is loaded already is played. With `flush`, what of it lies more than one segment
    /// ahead of the playhead is dropped and loaded again from this variant; playback goes on meanwhile.
    case pinned(Int, flush: Bool = false)
}

/// Kinds of variants that are left out unless they are asked for.
///
/// Source: CONTRACTS §8, step 6.
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Audio without loss: ALAC, FLAC, PCM.
    public static let lossless = VariantPreferences(rawValue: 1 << 0)
}
