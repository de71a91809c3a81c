/// The reason why a variant is not eligible.
///
/// The raw value is the number of the selection step that excludes the variant, except for ``keySystem``, which follows
/// from the variant's own playlist.
public enum IneligibilityReason: Int, Sendable, Hashable, CaseIterable {
    /// Another variant is pinned.
    case notPinned = 0
    /// A codec cannot be decoded.
    case codec = 1
    /// A required video layout or content protection is not available.
    case requirement = 2
    case hdcpLevel = 3
    case videoRange = 4
    /// Only other variants have the selected audio or its language in their audio group.
    case audioGroup = 5
    /// The output supports fewer audio channels, or lossless audio is not preferred.
    case audioFormat = 6
    /// The variant failed recently.
    case penalized = 7
    case audioOnly = 8
    case peakBitRate = 9
    case maximumResolution = 10
    case displaySize = 11
    /// The variant violates a decoder limit, the bit-rate bounds or the quality expression.
    case limits = 12
    /// The media uses an unknown encryption method, or a key system without an available key.
    case keySystem = 13
}
