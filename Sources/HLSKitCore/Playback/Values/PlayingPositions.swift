public import FoundationEssentials

/// The position where playback starts.
public enum StartPosition: Sendable, Hashable {
    /// `EXT-X-START` where there is one; else the beginning, or the live edge less the hold-back.
    case automatic
    /// Seconds on the item's timeline; negative ones count from the end.
    case time(Duration)
    /// The oldest segment of a live playlist.
    case oldest
    /// The media that bears this date, by `EXT-X-PROGRAM-DATE-TIME`; what is listed first where all of it is later. An item
    /// whose playlist has no dates fails.
    case date(Date)
    /// The segment with this media sequence number; the oldest where it is not listed any more.
    case segment(Int)
}

/// The position where playback ends.
public enum EndPosition: Sendable, Hashable {
    case automatic
    /// Seconds on the item's timeline; negative ones count from the end.
    case time(Duration)
    /// This long after the start position.
    case duration(Duration)
    /// The media that bears this date, by `EXT-X-PROGRAM-DATE-TIME`. An item whose playlist has no dates fails.
    case date(Date)
    /// Behind the segment with this media sequence number, which may be one that a live playlist lists later.
    case segment(Int)
}
