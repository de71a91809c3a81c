/// The steps that update the engine's state after each event, in this order.
///
/// An event changes only the state that it is about. The steps derive the consequences of the change and of the elapsed
/// time. Each step uses the results of the earlier ones.
enum SettlingStep: Sendable {
    /// Switches between I-frames and normal media, as the rate requires. This replaces the lanes that all other steps
    /// read.
    case rate
    /// Suspends or resumes disabled video. This also changes the lanes.
    case tracks
    /// Makes a paused live stream idle, or ends that. It precedes loading because an idle stream makes no requests.
    case rest
    /// Removes media far behind the playhead. It precedes the buffer step because kept media counts towards the limits.
    case eviction
    /// Resumes suspended bodies that now have room. It precedes new segments, which are needed later.
    case suspendedBodies
    /// Evaluates the buffer and starts playback if possible. It precedes loading because it determines which lanes need
    /// media.
    case buffer
    /// Starts loading segments.
    case loads
    /// Requests hinted resources. It follows the segments, which may use hinted resources.
    case hints
    /// Evaluates the buffer again if the last two steps changed anything. Playback may start if a lane is complete now
    /// or a gap was skipped.
    case bufferAfterLoads
    /// Starts low-latency playback at its distance from the live edge. It precedes seeks because it may move the
    /// playhead with a seek.
    case alignment
    /// Ends a seek once media at its target is available. It precedes the start because only one question to the
    /// outputs may be open.
    case seek
    /// Asks the outputs for the first frame.
    case start
    /// Asks the outputs for the media that a preroll waits for.
    case preroll
    /// Reports date ranges, markers and metadata that the playhead has reached. It precedes the end, so that they are
    /// reported before the item ends.
    case dateRanges
    /// Ends loading if there is no fresh URL and all earlier requests have ended.
    ///
    /// It follows all steps that may bring media, and precedes the end because buffered media is played first.
    case refusal
    /// Ends or fails the item. It follows all steps that may bring media, and precedes steps that move the playhead of
    /// a continuing item.
    case end
    /// Handles a rate above 1 that has caught up with a live stream. It precedes the latency step, which needs the rate
    /// 1.
    case liveEdge
    /// Makes up for a wait with a seek.
    case liveOffset
    /// Reports the recommended distance from the live edge, which stalls may have changed.
    case recommendedOffset
    /// Adjusts the rate to keep the distance from the live edge. It follows all steps that move the playhead.
    case latency
    /// Sets the timer for the next time at which something changes without an event.
    case timer

    /// The order of execution.
    static let order: [SettlingStep] = [
        .rate, .tracks, .rest, .eviction, .suspendedBodies, .buffer, .loads, .hints, .bufferAfterLoads, .alignment,
        .seek, .start, .preroll, .dateRanges, .refusal, .end, .liveEdge, .liveOffset, .recommendedOffset, .latency,
        .timer,
    ]
}
