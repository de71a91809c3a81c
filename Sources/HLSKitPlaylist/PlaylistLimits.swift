/// How much of a playlist is read before it is refused. See docs/reference/loading.md; R27, R66.
public struct PlaylistLimits: Sendable, Hashable {
    /// Bytes of the whole playlist after inflation. Default 16 MiB; values above 4 GiB count as 4 GiB.
    public var maximumByteCount = 16 << 20
    /// Media segments, and parts. Default 100 000 of each.
    public var maximumSegmentCount = 100_000
    /// Variants, variants of I-frames, renditions, session data and session keys of a multivariant playlist, and rendition
    /// reports of a media playlist. Default 2 000 of each.
    public var maximumVariantCount = 2_000
    /// Alternatives of one key: `EXT-X-KEY` tags with different key formats that hold for the same segments. Default 32.
    package var maximumAlternativeKeyCount = 32
    /// Keys of all segments together, where each that differs from the one before counts with its alternatives. Default
    /// 400 000.
    package var maximumKeyCount = 400_000
    /// `EXT-X-DATERANGE` tags, and date ranges that delta updates add up to. Default 50 000.
    package var maximumDateRangeCount = 50_000
    /// Attributes without a property of one date range, from all its tags. Default 256.
    package var maximumAttributeCount = 256
    /// Variables (`EXT-X-DEFINE`). Default 2 000.
    package var maximumVariableCount = 2_000
    /// Bytes of one line, before and after the substitution of variables. Default 64 KiB.
    package var maximumLineByteCount = 64 << 10
    /// Issues that are kept; later ones are only counted out. Default 1 000.
    package var maximumIssueCount = 1_000

    /// Makes the default limits, which real playlists do not reach.
    public init() {}
}
