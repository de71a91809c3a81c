public import HLSTime

/// The position where playback starts.
public enum StartPosition: Sendable, Hashable {
    /// `EXT-X-START` where there is one; else the beginning, or the live edge less the hold-back.
    case automatic
    /// An item time; negative ones count from the end. One that is not numeric is as ``automatic``.
    case time(MediaTime)
    /// The oldest segment of a live playlist.
    case oldest
}

/// The position where playback ends.
public enum EndPosition: Sendable, Hashable {
    case automatic
    /// An item time; negative ones count from the end. One that is not numeric is as ``automatic``.
    case time(MediaTime)
    /// This long after the start position.
    case duration(MediaTime)
}
