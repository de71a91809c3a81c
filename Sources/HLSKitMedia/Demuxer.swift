/// A finding of a demuxer, in the order of the bytes.
public enum DemuxerEvent: Sendable {
    /// The tracks of the stream, all of them. Comes before their samples, and again when anything changed.
    case tracks([MediaTrack])
    case sample(MediaSample)
    /// A timed event in the media itself (MP4's `emsg`, splice information in a transport stream).
    case eventMessage(EventMessage)
    /// There is a track of this kind that no demuxer reads. `name` says what it is.
    case unreadTrack(MediaKind, name: String)
    /// Something odd that did not stop the demuxer, for the log.
    case note(String)
}

/// Takes the bytes of one media segment in any pieces and gives samples as soon as they are whole.
///
/// A demuxer lives for one segment. Whatever the bytes are, it ends with samples or a ``MediaError``, never with a
/// trap, and holds no more memory than a small multiple of the bytes it was given.
public protocol Demuxer: Sendable {
    /// Takes the next bytes and appends what they complete to `events`.
    mutating func append(_ bytes: ArraySlice<UInt8>, to events: inout [DemuxerEvent]) throws(MediaError)
    /// The segment is complete: appends what was held back. Throws where the segment ends in the middle of something.
    mutating func finish(to events: inout [DemuxerEvent]) throws(MediaError)
}
