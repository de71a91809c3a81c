/// The position where playback starts.
public enum StartPosition: Sendable, Hashable {
    /// `EXT-X-START` where there is one; else the beginning, or the live edge less the hold-back.
    case automatic
    /// Seconds on the item's timeline; negative ones count from the end.
    case time(Duration)
    /// The oldest segment of a live playlist.
    case oldest
}

/// The position where playback ends.
public enum EndPosition: Sendable, Hashable {
    case automatic
    /// Seconds on the item's timeline; negative ones count from the end.
    case time(Duration)
    /// This long after the start position.
    case duration(Duration)
}
