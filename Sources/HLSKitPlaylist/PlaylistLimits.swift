/// Limits beyond which a playlist is refused.
public struct PlaylistLimits: Sendable, Hashable {
    /// The bytes of the whole playlist after inflation.
    ///
    /// The default is 16 MiB. Values above 4 GiB are treated as 4 GiB.
    public var maximumByteCount = 16 << 20
    /// The largest number of media segments, and the largest number of partial segments.
    ///
    /// The default is 100 000 of each.
    public var maximumSegmentCount = 100_000
    /// The largest number of items of each kind, such as variants and renditions.
    ///
    /// The default is 2 000 of each. This limits variants, I-frame variants, renditions, session data and session keys
    /// of a multivariant playlist, and rendition reports of a media playlist.
    public var maximumVariantCount = 2_000
    /// The alternatives of one key: `EXT-X-KEY` tags with different key formats for the same segments. The default is
    /// 32.
    package var maximumAlternativeKeyCount = 32
    /// The keys of all segments together. Each key that differs from the previous one counts with its alternatives. The
    /// default is 400 000.
    package var maximumKeyCount = 400_000
    /// The `EXT-X-DATERANGE` tags, and the date ranges accumulated by delta updates. The default is 50 000.
    package var maximumDateRangeCount = 50_000
    /// The attributes without a property in one date range, from all its tags. The default is 256.
    package var maximumAttributeCount = 256
    package var maximumVariableCount = 2_000
    /// The bytes of one line, before and after variable substitution. The default is 64 KiB.
    package var maximumLineByteCount = 64 << 10
    /// The issues to keep. Later ones are only counted. The default is 1 000.
    package var maximumIssueCount = 1_000

    /// Creates the default limits, which real playlists do not reach.
    public init() {}
}
