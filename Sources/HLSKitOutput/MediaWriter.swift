public import HLSKitCodec
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitTime

/// Writes the media of an item somewhere, all of it: a player waits for its writers.
///
/// A writer says what it takes by conforming to ``FrameWriter``, ``AudioWriter`` or ``SampleWriter``. It is told its
/// tracks before anything of them.
///
/// The decoding threads call it, one for each kind of media, so its methods block while they write and may be called by
/// several threads at once; media of one kind comes in order. The first failure is final: after it every call throws,
/// and the item fails with it.
public protocol MediaWriter: Sendable {
    /// The media that end up in the output; the others need not be handed over, nor decoded.
    var mediaTypes: Set<MediaKind> { get }
    /// Takes samples as they are, and neither frames nor decoded audio. Default: it is a ``SampleWriter``. For a writer
    /// that could take both.
    var takesSamples: Bool { get }
    /// Nothing has been written. Default: false.
    var isEmpty: Bool { get }
    /// A track may become another in mid-stream (another size, another codec) and all of it is in the output. Otherwise the
    /// output keeps what it began with, and what does not fit is left out. Default: true.
    var holdsTrackChanges: Bool { get }
    /// Somebody reads the output while it is written, as at the other end of a pipe: a player that keeps time flushes it
    /// after each frame, buffer or sample. Default: false.
    var isReadAsWritten: Bool { get }

    /// Tells the tracks, before anything of them, and again when they change. A track is named afterwards by its place
    /// in `tracks`.
    func begin(_ tracks: [MediaTrack]) throws(HLSError)
    /// Hands what was written so far on to whoever reads the output, as far as its format allows. A player calls it once
    /// for each second of media, or for each piece where ``isReadAsWritten``.
    func flush() throws(HLSError)
    /// Writes what is held back and completes the output. A regular file to which nothing was written is removed.
    /// Whoever made the writer calls it, not the player.
    func finish() throws(HLSError)
}

extension MediaWriter {
    /// Whether it is a ``SampleWriter``.
    public var takesSamples: Bool { self is any SampleWriter }
    /// False.
    public var isEmpty: Bool { false }
    /// True.
    public var holdsTrackChanges: Bool { true }
    /// False.
    public var isReadAsWritten: Bool { false }
}

/// A writer of decoded frames.
public protocol FrameWriter: MediaWriter {
    /// Writes a frame of the track at `index`.
    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError)
}

/// A writer of decoded audio.
public protocol AudioWriter: MediaWriter {
    /// Writes audio of the track at `index`.
    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError)
}

/// A writer of compressed samples.
public protocol SampleWriter: MediaWriter {
    /// Writes a sample of the track at `index` that is presented at `itemTime`.
    func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError)
}

/// What a writer can be given.
package struct WriterCapabilities: Sendable {
    /// Each is nil for what the writer does not take.
    package let frames: (any FrameWriter)?
    package let audio: (any AudioWriter)?
    package let samples: (any SampleWriter)?

    package init(_ writer: any MediaWriter) {
        let (types, takesSamples) = (writer.mediaTypes, writer.takesSamples)
        frames = !takesSamples && types.contains(.video) ? writer as? any FrameWriter : nil
        audio = !takesSamples && types.contains(.audio) ? writer as? any AudioWriter : nil
        samples = takesSamples ? writer as? any SampleWriter : nil
    }

    // For writers that pass on what they get. What the writer does not take is dropped.

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        try frames?.write(frame, ofTrackAt: index)
    }

    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        try audio?.write(buffer, ofTrackAt: index)
    }

    func write(_ sample: MediaSample, ofTrackAt index: Int, at itemTime: MediaTime) throws(HLSError) {
        try samples?.write(sample, ofTrackAt: index, at: itemTime)
    }
}

/// Receives what was done to media so that it fits the output: one line for a log.
public typealias WriterNote = @Sendable (String) -> Void
