import HLSKitCore
import HLSKitMedia

/// The outputs of one item that go to a window: frames, audio and captions.
final class WatchOutputs: Sendable {
    let itemID: ObjectIdentifier
    let pictures: WindowPictures?
    let sound: WindowSound?
    let captions = LegibleOutput()
    /// Nobody has the item any more.
    let isOver: @Sendable () -> Bool

    /// Makes them and adds them to an item.
    ///
    /// - Parameter source: tells the items of a window apart.
    init(
        _ item: PlayerItem, source: Int, scene: WatchScene, sound device: SoundDevice?, showsPictures: Bool
    ) throws(HLSError) {
        itemID = ObjectIdentifier(item)
        isOver = { [weak item] in item == nil }
        pictures = showsPictures ? WindowPictures(scene: scene, source: source) : nil
        sound = device.map { WindowSound($0, source: source) }
        if let pictures { try item.add(pictures) }
        if let sound { try item.add(sound) }
        if showsPictures { try item.add(captions) }
    }
}

/// Gives the frames of an item to a window, in standard range and in a format that it draws.
///
/// They are converted on the thread that decodes: there is time for it before they are to be seen.
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

    /// The window has another size: other variants may do.
    func setDisplaySize(_ size: PixelSize) {
        converter.displaySize = size
        binding.noteChange()
    }

    func receive(_ frame: VideoFrame, at clock: OutputClock) throws(HLSError) {
        converter.receive(frame, at: clock)
        guard let time = frame.itemTime, let (picture, _) = try converter.copyFrame(for: time) else { return }
        // What is looked at while time stands still is for now.
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

/// Gives the audio of an item to the sound device.
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
