public import HLSMedia
public import HLSTime

/// Takes the media of an item and writes it somewhere.
///
/// The decoding threads call it, so its methods block while they write and may be called by several threads at once.
/// The first failure is final: after it every call throws.
public protocol MediaWriter: Sendable {
    /// Takes samples as they are, without decoding. Otherwise it takes frames.
    var takesSamples: Bool { get }
    /// The media that end up in the output; the others need not be handed over, nor decoded.
    var mediaTypes: Set<MediaType> { get }
    /// Nothing has been written. Default: false.
    var isEmpty: Bool { get }
    /// A track may become another in mid-stream (another size, another codec) and all of it is in the output. Otherwise the
    /// output keeps what it began with, and what does not fit is left out. Default: true.
    var holdsTrackChanges: Bool { get }

    /// Tells the tracks, before anything of them, and again when they change. A track is named afterwards by its place
    /// in `tracks`.
    func begin(_ tracks: [MediaTrack]) throws(OutputError)
    /// Writes a picture of the track at `index`.
    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(OutputError)
    /// Writes sound of the track at `index`.
    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(OutputError)
    /// Writes a sample of the track at `index` that is presented at `itemTime`.
    func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(OutputError)
    /// Hands what was written so far on to whoever reads the output, as far as its format allows. A player calls it once
    /// for each second of media. Default: does nothing.
    func flush() throws(OutputError)
    /// Writes what is held back and completes the output. A regular file to which nothing was written is removed.
    func finish() throws(OutputError)
}

extension MediaWriter {
    /// False: decoded media is written.
    public var takesSamples: Bool { false }
    /// False.
    public var isEmpty: Bool { false }
    /// True.
    public var holdsTrackChanges: Bool { true }
    /// Does nothing.
    public func begin(_ tracks: [MediaTrack]) throws(OutputError) {}
    /// Does nothing.
    public func flush() throws(OutputError) {}
    /// Does nothing.
    public func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(OutputError) {}
    /// Does nothing.
    public func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(OutputError) {}
    /// Does nothing.
    public func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(OutputError) {}
}

/// Receives what was done to media so that it fits the output: one line for a log.
public typealias WriterNote = @Sendable (String) -> Void
