public import HLSMedia

/// Drops decoded media: `-f null`.
public final class DiscardingWriter: FrameWriter, AudioWriter {
    public var mediaTypes: Set<MediaType> { [.video, .audio] }

    /// Makes a writer that takes everything and keeps nothing.
    public init() {}

    public func begin(_ tracks: [MediaTrack]) {}
    public func write(_ frame: VideoFrame, ofTrackAt index: Int) {}
    public func write(_ buffer: AudioBuffer, ofTrackAt index: Int) {}
    public func flush() {}
    public func finish() {}
}
