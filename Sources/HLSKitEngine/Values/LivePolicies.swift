/// The reaction to a live stream that has stopped updating.
public enum StalePolicy: String, Sendable, Hashable, CaseIterable {
    /// The loaded media is played, and the item ends like any other.
    case end
    /// The loaded media is played, and the item fails (``HLSError/Code/staleLive``).
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
