import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime
import Synchronization

final class CapturingWriter: FrameWriter, AudioWriter {
    struct Frame: Sendable {
        var time: Duration
        var width: Int
        /// The hash in the form of ``SampleMedia/frameHashes(of:)``.
        var hash: String
        var arrival: HostTime
    }

    struct Audio: Sendable {
        var time: Duration
        var length: Duration
        /// The number of upward zero crossings in the first channel.
        var riseCount = 0
        var arrival: HostTime
    }

    private struct State {
        var frames: [Frame] = []
        var sounds: [Audio] = []
        var finishCount = 0
    }

    private let state = Mutex(State())
    private let note: @Sendable (Int) -> Void
    private let clock: SourceClock
    let mediaTypes: Set<MediaKind>

    init(
        _ mediaTypes: Set<MediaKind> = [.video, .audio], clock: SourceClock = .host,
        note: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.mediaTypes = mediaTypes
        self.clock = clock
        self.note = note
    }

    var frames: [Frame] { state.withLock { $0.frames } }
    var sounds: [Audio] { state.withLock { $0.sounds } }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        let arrival = clock.now
        let hash = String(try frame.digest().prefix(8))
        let videoFrame = Frame(
            time: frame.itemTime?.duration ?? .seconds(-1), width: frame.width, hash: hash, arrival: arrival)
        let count = state.withLock { state in
            state.frames.append(videoFrame)
            return state.frames.count
        }
        note(count)
    }

    func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        let audio = Audio(
            time: buffer.itemTime?.duration ?? .seconds(-1),
            length: .seconds(1) * buffer.frameCount / max(1, buffer.sampleRate), riseCount: Self.riseCount(of: buffer),
            arrival: clock.now)
        state.withLock { $0.sounds.append(audio) }
    }

    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}

    private static func riseCount(of buffer: AudioBuffer) -> Int {
        buffer.withPlanes { planes in
            guard let plane = planes.first else { return 0 }
            switch buffer.sampleFormatName {
            case "fltp": return riseCount(plane.bindMemory(to: Float.self))
            case "s16" where buffer.channelCount == 1:
                return plane.bindMemory(to: Int16.self).map(Float.init).withUnsafeBufferPointer(riseCount)
            case "s32" where buffer.channelCount == 1:
                return plane.bindMemory(to: Int32.self).map(Float.init).withUnsafeBufferPointer(riseCount)
            default: return 0
            }
        }
    }

    /// Not generic, because tests are not optimized, and a generic function would take a quarter of their time.
    private static func riseCount(_ samples: UnsafeBufferPointer<Float>) -> Int {
        var (count, index) = (0, 1)
        while index < samples.count {
            if samples[index - 1] < 0 && samples[index] >= 0 { count += 1 }
            index += 1
        }
        return count
    }

    // MARK: Measurements

    /// The pitch of a pure tone, in hertz.
    var pitch: Double {
        let length = sounds.reduce(Duration.zero) { $0 + $1.length }
        return Double(sounds.reduce(0) { $0 + $1.riseCount }) / max(length.seconds, 0.001)
    }

    /// The first frame that does not directly follow its predecessor, or `nil` if all do.
    var firstBreak: String? {
        let frames = frames
        for (last, next) in zip(frames, frames.dropFirst())
        where abs(next.time - last.time - .milliseconds(40)) > .microseconds(10) {
            return "\(next.time.seconds) after \(last.time.seconds)"
        }
        return nil
    }

    var largestAudioGap: Duration {
        let sounds = sounds
        return zip(sounds, sounds.dropFirst()).map { abs($1.time - $0.time - $0.length) }.max() ?? .zero
    }
}
