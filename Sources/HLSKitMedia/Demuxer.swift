/// A result of a demuxer, in the order of the bytes.
public enum DemuxerEvent: Sendable {
    /// All tracks of the stream. This event precedes their samples and is repeated after every change.
    case tracks([MediaTrack])
    case sample(MediaSample)
    /// A timed event in the media itself (MP4's `emsg`, splice information in a transport stream).
    case eventMessage(EventMessage)
    /// The stream has a track of this kind that no demuxer reads. `name` describes it.
    case unreadTrack(MediaKind, name: String)
    /// A description of invalid input that did not stop the demuxer, for the log.
    case note(String)
}

/// A parser that reads a media segment in pieces of any size and emits samples when they are complete.
///
/// A demuxer is used for one segment. Any input ends with samples or a ``MediaError``, never with a trap. The memory
/// use is at most a small multiple of the input.
public protocol Demuxer: Sendable {
    /// Reads the next bytes and appends the completed events to `events`.
    mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError)
    /// Ends the segment and appends all pending events. Throws if the segment is truncated.
    mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError)
}
