/// How much of a playlist is read before it is refused. Source: RELIABILITY R27, R66.
public struct PlaylistLimits: Sendable, Hashable {
    /// Bytes of the whole playlist after inflation. Default 16 MiB; values above 4 GiB count as 4 GiB.
    public var maximumByteCount = 16 << 20
    /// Media segments, and parts. Default 100 000 of each.
    public var maximumSegmentCount = 100_000
    /// Variants, and renditions, of a multivariant playlist. Default 2 000 of each.
    public var maximumVariantCount = 2_000
    /// Bytes of one line, before and after the substitution of variables. Default 64 KiB.
    public var maximumLineByteCount = 64 << 10
    /// Issues that are kept; later ones are only counted out. Default 1 000.
    public var maximumIssueCount = 1_000

    public init() {}
}
