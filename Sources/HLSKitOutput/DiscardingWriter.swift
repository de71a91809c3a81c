import HLSKitCodec
import HLSKitMedia

/// Drops decoded media: `-f null`.
final class DiscardingWriter: FrameWriter, AudioWriter {
    var mediaTypes: Set<MediaKind> { [.video, .audio] }

    /// Makes a writer that takes everything and keeps nothing.
    init() {}

    func begin(_ tracks: [MediaTrack]) {}
    func write(_ frame: VideoFrame, ofTrackAt index: Int) {}
    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) {}
    func flush() {}
    func finish() {}
}
