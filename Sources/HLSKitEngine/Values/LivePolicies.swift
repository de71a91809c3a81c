/// The reaction to a live stream that has stopped updating.
public enum StalePolicy: String, Sendable, Hashable, CaseIterable {
    /// The player plays the loaded media, and the item ends like any other.
    case end
    /// The player plays the loaded media, and the item fails (``HLSError/Code/staleLive``).
    case fail
    /// The player waits indefinitely, even if the playlist cannot be loaded.
    case wait
}

/// The reaction to a live window that has moved past segments that were not loaded.
public enum FellBehindPolicy: String, Sendable, Hashable, CaseIterable {
    /// Playback continues as far from the live edge as it started.
    ///
    /// The player jumps when it plays again after a pause, or when no loaded media is left. While media is left, it
    /// continues with the oldest segment.
    case jumpToEdge
    /// Playback continues after the loaded media with the oldest available segment.
    ///
    /// This policy loses the least media.
    case jumpToOldest
    /// The item fails when the loaded media has been played.
    case fail
}
