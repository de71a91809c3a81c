import HLSKitCore
import HLSKitMedia

final class WatchOutputs: Sendable {
    let pictures: WindowPictures?
    let sound: WindowSound?
    let captions = LegibleOutput()
    let isOver: @Sendable () -> Bool

    /// - Parameter source: The number of the item within the window.
    init(
        _ item: PlayerItem, source: Int, scene: WatchScene, sound device: SoundDevice?, showsPictures: Bool
    ) throws(HLSError) {
        isOver = { [weak item] in item == nil }
        pictures = showsPictures ? WindowPictures(scene: scene, source: source) : nil
        sound = device.map { WindowSound($0, source: source) }
        if let pictures { try item.add(pictures) }
        if let sound { try item.add(sound) }
        if showsPictures { try item.add(captions) }
    }
}

/// Passes an item's frames to a window, converted to standard range and a format that it can draw.
///
/// Frames are converted early, on the decoding thread, so that they are ready when due.
final class WindowPictures: FrameReceiver, LimitedOutput {
    let binding = OutputBinding()
    private let converter: VideoOutput
    private let scene: WatchScene
    private let source: Int

    init(scene: WatchScene, source: Int) {
        converter = VideoOutput(
            displaySize: scene.windowSize, colorPolicy: .convert(to: .rec709), pixelFormat: .yuv420p)
        self.scene = scene
        self.source = source
    }

    var limits: OutputLimits { converter.limits }

    func setDisplaySize(_ size: PixelSize) {
        converter.displaySize = size
        binding.noteChange()
    }

    func receive(_ frame: VideoFrame, at clock: OutputClock) throws(HLSError) {
        converter.receive(frame, at: clock)
        guard let time = frame.itemTime, let (picture, _) = try converter.copyFrame(for: time) else { return }
        // A frame shown while paused is due immediately.
        let due = clock.rate == 0 ? HostTime.zero : clock.hostTime(of: time) + WatchTiming.delay
        scene.add(picture, itemTime: time, due: due, source: source)
    }

    func flush(generation: Int) {
        converter.flush(generation: generation)
        scene.removePictures(of: source)
    }

    func finish(_ type: MediaKind, at clock: OutputClock) { converter.finish(type, at: clock) }
    func end() { converter.end() }
}

final class WindowSound: EarlyAudioReceiver, LimitedOutput {
    let binding = OutputBinding()
    private let converter = AudioOutput(
        format: AudioOutput.Format(
            sampleFormat: .float32, sampleRate: SoundDevice.sampleRate, channelCount: SoundDevice.channelCount))
    private let device: SoundDevice
    private let source: Int

    init(_ device: SoundDevice, source: Int) {
        self.device = device
        self.source = source
    }

    var limits: OutputLimits { converter.limits }

    func prepare(_ buffer: AudioBuffer, at clock: OutputClock) { converter.prepare(buffer, at: clock) }

    func receive(_ buffer: AudioBuffer, at clock: OutputClock) throws(HLSError) {
        converter.receive(buffer, at: clock)
        handOver()
    }

    func flush(generation: Int) {
        converter.flush(generation: generation)
        device.flush(source)
    }

    func finish(_ type: MediaKind, at clock: OutputClock) {
        converter.finish(type, at: clock)
        handOver()
    }

    func end() { converter.end() }

    private func handOver() {
        while let buffer = converter.copyNextBuffer() { device.play(buffer, of: source) }
    }
}
