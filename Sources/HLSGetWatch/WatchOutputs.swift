import HLSKitCore
import HLSKitMedia

final class WatchOutputs: Sendable {
    let frames: WindowVideo?
    let audio: WindowAudio?
    let captions = LegibleOutput()
    let isOver: @Sendable () -> Bool

    /// - Parameter source: The number of the item within the window.
    init(
        _ item: PlayerItem, source: Int, scene: WatchScene, audio device: AudioDevice?, showsFrames: Bool
    ) throws(HLSError) {
        isOver = { [weak item] in item == nil }
        frames = showsFrames ? WindowVideo(scene: scene, source: source) : nil
        audio = device.map { WindowAudio($0, source: source) }
        if let frames { try item.add(frames) }
        if let audio { try item.add(audio) }
        if showsFrames { try item.add(captions) }
    }
}

/// Passes an item's frames to a window, converted to standard range and a format that it can draw.
///
/// Frames are converted early, on the decoding thread, so that they are ready when due.
final class WindowVideo: FrameReceiver, LimitedOutput {
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
        guard let time = frame.itemTime, let (converted, _) = try converter.copyFrame(for: time) else { return }
        // A frame shown while paused is due immediately.
        let due = clock.rate == 0 ? HostTime.zero : clock.hostTime(of: time) + WatchTiming.delay
        scene.add(converted, itemTime: time, due: due, source: source)
    }

    func flush(generation: Int) {
        converter.flush(generation: generation)
        scene.removeFrames(of: source)
    }

    func finish(_ type: MediaKind, at clock: OutputClock) { converter.finish(type, at: clock) }
    func end() { converter.end() }
}

final class WindowAudio: EarlyAudioReceiver, LimitedOutput {
    let binding = OutputBinding()
    private let converter = AudioOutput(
        format: AudioOutput.Format(
            sampleFormat: .float32, sampleRate: AudioDevice.sampleRate, channelCount: AudioDevice.channelCount))
    private let device: AudioDevice
    private let source: Int

    init(_ device: AudioDevice, source: Int) {
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
