/// What is brought up to date after each event, in this order.
///
/// An event changes what it is about and nothing else; what follows from that, and from the time that has passed, is
/// worked out here. Each step reads what those before it have brought up to date.
enum SettlingStep: Sendable {
    /// I-frames or media, as the rate wants it: it replaces the lanes that all other steps look at.
    case rate
    /// Frames that are switched off rest, or come back. As above.
    case tracks
    /// Whether a paused live stream rests. Before anything is loaded: who rests asks for nothing.
    case rest
    /// Media far behind the playhead goes. Before the buffer is judged: what is held behind counts against its limits.
    case eviction
    /// Bodies that were held back are read on where there is room again. Before new segments, which are needed later.
    case suspendedBodies
    /// The verdict of the buffer, and the start of playback if it allows that. Before loading: it says which lanes want
    /// media.
    case buffer
    /// Segments are begun.
    case loads
    /// What lists hint at is asked for. After the segments, which may be what a hint was of.
    case hints
    /// The verdict once more if the two steps before have changed anything: a lane may be complete now, or a gap be
    /// skipped, with which playback may start.
    case bufferAfterLoads
    /// Playing by parts begins at its distance from the edge. Before seeks: the place may move on by one.
    case alignment
    /// A seek ends where there is media at its target. Before the start: the outputs are asked one thing at a time.
    case seek
    /// The outputs are asked for the first frame.
    case start
    /// The outputs are asked for what a preroll waits for.
    case preroll
    /// Date ranges, markers and metadata that the playhead has come to. Before the end: what is told of the item comes
    /// before that it is over.
    case dateRanges
    /// What was asked for before the URL ran out has come, and there is no fresh one. After all that may bring media, and
    /// before the end: what is buffered is played first.
    case refusal
    /// The end of the item, or its failure. After all that may still bring media, and before steps that move the playhead
    /// of an item that goes on.
    case end
    /// A rate above 1 has caught up with a live stream. Before the distance from the edge, which is kept at rate 1.
    case liveEdge
    /// A wait is made up for by a seek of the engine's own.
    case liveOffset
    /// The distance from the edge that would do, which stalls of this event have changed.
    case recommendedOffset
    /// The rate at which the distance from the edge is kept. After all that moves the playhead.
    case latency
    /// The next moment at which time alone changes something, by all of the above.
    case timer

    /// The order of execution.
    static let order: [SettlingStep] = [
        .rate, .tracks, .rest, .eviction, .suspendedBodies, .buffer, .loads, .hints, .bufferAfterLoads, .alignment,
        .seek, .start, .preroll, .dateRanges, .refusal, .end, .liveEdge, .liveOffset, .recommendedOffset, .latency,
        .timer,
    ]
}
