public import HLSKitCodec
public import HLSKitLoading
public import HLSKitMedia
public import HLSKitTime

/// A type that writes all media of an item.
///
/// A player waits for its writers. A writer conforms to ``FrameWriter``, ``AudioWriter`` or ``SampleWriter`` to declare
/// which media it accepts. It receives the tracks before their media.
///
/// The decoding threads call the writer, one thread for each kind of media. The methods block while they write, and
/// several threads may call them at once. Media of one kind arrives in order. The first error is final: after it, every
/// call throws and the item fails.
public protocol MediaWriter: Sendable {
    /// The kinds of media in the output. Other media need not be decoded or passed to the writer.
    var mediaTypes: Set<MediaKind> { get }
    /// A Boolean value that indicates whether the writer takes samples instead of frames and decoded audio.
    ///
    /// Implement it only if the writer could take both. The default is whether the writer is a ``SampleWriter``.
    var takesSamples: Bool { get }
    /// A Boolean value that indicates whether nothing has been written. The default is `false`.
    var isEmpty: Bool { get }
    /// A Boolean value that indicates whether the output can hold tracks that change their codec or size.
    ///
    /// Otherwise the output keeps its initial tracks, and media that does not fit is dropped. The default is `true`.
    var holdsTrackChanges: Bool { get }
    /// A Boolean value that indicates whether the output is read while it is written, for example through a pipe.
    ///
    /// A player with pacing then flushes it after each frame, buffer or sample. The default is `false`.
    var isReadAsWritten: Bool { get }

    /// Sets the tracks. Called before their media, and again when they change.
    ///
    /// Later calls identify a track by its index in `tracks`.
    func begin(_ tracks: [MediaTrack]) throws(HLSError)
    /// Passes the written media on to the reader of the output, as far as the format allows.
    ///
    /// A player calls it once for each second of media. If ``isReadAsWritten`` is `true`, it calls it after each write.
    func flush() throws(HLSError)
    /// Writes the remaining media and completes the output.
    ///
    /// The owner of the writer calls this method, not the player. A regular file without media is removed.
    func finish() throws(HLSError)
}

extension MediaWriter {
    /// A Boolean value that indicates whether the writer takes samples, by default `true` for a ``SampleWriter``.
    public var takesSamples: Bool { self is any SampleWriter }
    /// A Boolean value that indicates whether nothing has been written, by default `false`.
    public var isEmpty: Bool { false }
    /// A Boolean value that indicates whether the output can hold changes of tracks, by default `true`.
    public var holdsTrackChanges: Bool { true }
    /// A Boolean value that indicates whether the output is read while it is written, by default `false`.
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

package struct WriterCapabilities: Sendable {
    /// Each property is `nil` if the writer does not accept the media.
    package let frames: (any FrameWriter)?
    package let audio: (any AudioWriter)?
    package let samples: (any SampleWriter)?
    package var leadIn: (any LeadInWriter)? { samples as? any LeadInWriter }

    package init(_ writer: any MediaWriter) {
        let (types, takesSamples) = (writer.mediaTypes, writer.takesSamples)
        frames = !takesSamples && types.contains(.video) ? writer as? any FrameWriter : nil
        audio = !takesSamples && types.contains(.audio) ? writer as? any AudioWriter : nil
        samples = takesSamples ? writer as? any SampleWriter : nil
    }

    // For writers that pass media on. Media that the writer does not accept is dropped.

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

/// A closure that receives a log line for each change needed to fit media to the output.
public typealias WriterNote = @Sendable (String) -> Void
