import HLSKitCodec
import HLSKitMedia

/// Discards decoded media: `-f null`.
final class DiscardingWriter: FrameWriter, AudioWriter {
    var mediaTypes: Set<MediaKind> { [.video, .audio] }

    init() {}

    func begin(_ tracks: [MediaTrack]) {}
    func write(_ frame: VideoFrame, ofTrackAt index: Int) {}
    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) {}
    func flush() {}
    func finish() {}
}
