public import FoundationEssentials
public import HLSKitTime

/// The position where playback starts.
public enum StartPosition: Sendable, Hashable {
    /// `EXT-X-START` where there is one; else the beginning, or the live edge less the hold-back.
    case automatic
    /// An item time; negative ones count from the end. One that is not numeric is as ``automatic``.
    case time(MediaTime)
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
    /// An item time; negative ones count from the end. One that is not numeric is as ``automatic``.
    case time(MediaTime)
    /// This long after the start position.
    case duration(MediaTime)
    /// The media that bears this date, by `EXT-X-PROGRAM-DATE-TIME`. An item whose playlist has no dates fails.
    case date(Date)
    /// Behind the segment with this media sequence number, which may be one that a live playlist lists later.
    case segment(Int)
}
