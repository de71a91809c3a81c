/// Why a variant is out: a step of selection that takes it, by its number, or what its own playlist shows.
public enum IneligibilityReason: Int, Sendable, Hashable, CaseIterable {
    /// Another variant is pinned.
    case notPinned = 0
    /// A codec cannot be decoded.
    case codec = 1
    /// A video layout or a content protection is required that is not there.
    case requirement = 2
    case hdcpLevel = 3
    case videoRange = 4
    /// The selected audio, or its language, is in another variant's group.
    case audioGroup = 5
    /// More audio channels than the output has, or lossless audio that is not wanted.
    case audioFormat = 6
    /// It failed of late.
    case penalized = 7
    case audioOnly = 8
    case peakBitRate = 9
    case maximumResolution = 10
    case displaySize = 11
    /// Decoder limits, bounds, or the quality that was asked for.
    case limits = 12
    /// Its media is encrypted by a method that is not known, or for a key system that nobody here has keys of.
    case keySystem = 13
}
