/// What the settings of an item choose among.
extension PlayerItem {
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

    /// The reaction to a live stream that has stopped updating.
    public enum StalePolicy: String, Sendable, Hashable, CaseIterable {
        /// The loaded media is played, and the item ends like any other.
        case end
        /// The loaded media is played, and the item fails (``PlayerError/Code/staleLive``).
        case fail
        /// The player waits as long as it takes, also while the playlist cannot be loaded.
        case wait
    }

    /// The reaction to a live window that moved past segments that were not loaded.
    public enum FellBehindPolicy: String, Sendable, Hashable, CaseIterable {
        /// Playback continues as far from the live edge as it started: at the next play after a pause, as a seek does,
        /// or when nothing is left to play. While something is left to play, it continues with the oldest segment.
        case jumpToEdge
        /// Playback continues with the oldest segment that is still there, after the loaded media, so that least is
        /// lost.
        case jumpToOldest
        /// The item fails when the loaded media is played.
        case fail
    }
}
