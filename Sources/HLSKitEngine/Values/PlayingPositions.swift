public import FoundationEssentials
public import HLSKitTime

/// The position at which playback starts.
public enum StartPosition: Sendable, Hashable {
    /// The position of `EXT-X-START` or, without that tag, the default position.
    ///
    /// The default is the beginning of VOD, and the hold-back distance from the edge of a live stream.
    case automatic
    /// An item time. Negative times count from the end. A non-numeric time is the same as ``automatic``.
    case time(MediaTime)
    /// The oldest segment of a live playlist.
    case oldest
    /// The media with this date according to `EXT-X-PROGRAM-DATE-TIME`.
    ///
    /// If all listed media is later, playback starts with the first segment. An item whose playlist has no dates fails.
    case date(Date)
    /// The segment with this media sequence number, or the oldest segment if it is no longer listed.
    case segment(Int)
}

/// The position at which playback ends.
public enum EndPosition: Sendable, Hashable {
    case automatic
    /// An item time. Negative times count from the end. A non-numeric time is the same as ``automatic``.
    case time(MediaTime)
    /// A duration after the start position.
    case duration(MediaTime)
    /// The media with this date according to `EXT-X-PROGRAM-DATE-TIME`. An item whose playlist has no dates fails.
    case date(Date)
    /// The end of the segment with this media sequence number. A live playlist may list the segment later.
    case segment(Int)
}
