package import HLSMedia

/// Drops decoded media: `-f null`.
package final class DiscardingWriter: FrameWriter, AudioWriter {
    package var mediaTypes: Set<MediaType> { [.video, .audio] }

    /// Makes a writer that takes everything and keeps nothing.
    package init() {}

    package func begin(_ tracks: [MediaTrack]) {}
    package func write(_ frame: VideoFrame, ofTrackAt index: Int) {}
    package func write(_ buffer: AudioBuffer, ofTrackAt index: Int) {}
    package func flush() {}
    package func finish() {}
}
