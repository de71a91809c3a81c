import HLSKitCore
import Synchronization

/// The content of a window, supplied by the session and the outputs and drawn by the window's thread.
final class WatchScene: Sendable {
    /// A stream of the player, which one or more items play.
    struct Stream: Sendable {
        let url: String
        let title: String
        let thumbnails: ThumbnailSource?
    }

    private struct State {
        var frames = FrameQueue<VideoFrame>()
        var player: PlayerState?
        var shown: FrameQueue<VideoFrame>.Entry?
        var windowSize: PixelSize
        /// By source.
        var outputs: [Int: WatchOutputs] = [:]
        var streams: [PlayerItemID: Stream] = [:]
        var message: (text: String, until: HostTime)?
        var sourceCount = 0
        var isClosing = false
    }

    private static let messageTime = Duration.seconds(4)

    let clock: SteeredClock
    private let state: Mutex<State>
    private let device = Mutex<AudioDevice?>(nil)

    init(clock: SteeredClock, windowSize: PixelSize) {
        self.clock = clock
        state = Mutex(State(windowSize: windowSize))
    }

    // MARK: The session's side

    func add(_ item: PlayerItem, audio: AudioDevice?, showsFrames: Bool) throws(HLSError) {
        let source = state.withLock { state in
            state.sourceCount += 1
            return state.sourceCount
        }
        let outputs = try WatchOutputs(
            item, source: source, scene: self, audio: audio, showsFrames: showsFrames)
        state.withLock { state in
            state.outputs = state.outputs.filter { !$0.value.isOver() }
            state.outputs[source] = outputs
        }
    }

    /// Adds the stream of an item. Items of the same URL share it.
    func add(_ id: PlayerItemID, url: String, makeThumbnails: (String) -> ThumbnailSource?) {
        let known = state.withLock { $0.streams.values.first { $0.url == url } }
        let stream =
            known
            ?? Stream(url: url, title: "hlsget: " + WatchStage.name(of: url), thumbnails: makeThumbnails(url))
        state.withLock { $0.streams[id] = stream }
    }

    /// Makes frames follow the audio of this device.
    func follow(_ device: AudioDevice?) { self.device.withLock { $0 = device } }

    func show(_ player: PlayerState) { state.withLock { $0.player = player } }

    func say(_ text: String) {
        let until = now + Self.messageTime
        state.withLock { $0.message = (text, until) }
    }

    var shownFrame: FrameQueue<VideoFrame>.Entry? { state.withLock(\.shown) }

    func close() { state.withLock { $0.isClosing = true } }

    // MARK: The outputs' side

    func add(_ frame: VideoFrame, itemTime: MediaTime, due: HostTime, source: Int) {
        state.withLock {
            $0.frames.add(FrameQueue.Entry(frame: frame, itemTime: itemTime, due: due, source: source))
        }
    }

    func removeFrames(of source: Int) { state.withLock { $0.frames.removeAll(of: source) } }

    // MARK: The window's side

    /// The current presentation time: by the sound device if there is one, otherwise by the player's clock.
    var now: HostTime {
        let device = device.withLock(\.self)
        return device?.time(at: SourceClock.host.now) ?? clock.now
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }
    var player: PlayerState { state.withLock { $0.player ?? PlayerState() } }
    var isOpening: Bool { state.withLock { $0.player.map { $0.itemStatus == .unknown && $0.rate != 0 } ?? true } }

    var stream: Stream? { state.withLock { state in state.player?.currentItemID.flatMap { state.streams[$0] } } }

    func closeThumbnails() {
        for stream in state.withLock(\.streams).values { stream.thumbnails?.close() }
    }

    var windowSize: PixelSize {
        get { state.withLock { $0.windowSize } }
        set {
            let outputs = state.withLock { state -> [WatchOutputs] in
                guard state.windowSize != newValue else { return [] }
                state.windowSize = newValue
                return Array(state.outputs.values)
            }
            for output in outputs { output.frames?.setDisplaySize(newValue) }
        }
    }

    func message(at now: HostTime) -> String? {
        state.withLock { $0.message.flatMap { now < $0.until ? $0.text : nil } }
    }

    func takeFrame(at now: HostTime) -> FrameQueue<VideoFrame>.Entry? {
        state.withLock { state in
            let entry = state.frames.take(at: now)
            state.shown = entry ?? state.shown
            return entry
        }
    }

    /// The next frame, which stays in the queue.
    var nextFrame: VideoFrame? { state.withLock { $0.frames.next?.frame } }
    var nextDue: HostTime? { state.withLock { $0.frames.nextDue } }

    func captions(of entry: FrameQueue<VideoFrame>.Entry, later: MediaTime = .zero) -> [LegibleCue] {
        let outputs = state.withLock { $0.outputs[entry.source] }
        return outputs?.captions.currentCues(at: entry.itemTime + later) ?? []
    }
}
