import HLSKitCore
import Synchronization

/// The system's sound device. It plays audio on time and steers the player's clock by its own.
///
/// Audio is audible ``WatchTiming/delay`` after its time on the player's clock. SDL requests samples on its own thread.
final class AudioDevice: Sendable {
    static let sampleRate = 48_000
    static let channelCount = 2
    /// Frames that the device requests at a time: 21 ms.
    static let periodFrameCount = 1024
    /// The number of periods between a request and its playback; SDL makes a device buffer this many.
    static let heldPeriods = 2
    static var latency: Duration { .seconds(1) * (periodFrameCount * heldPeriods) / sampleRate }
    /// Audio that is off by less than this, 2 ms, is appended without a gap.
    private static let tolerance = sampleRate / 500

    private struct State {
        var line = AudioQueue(
            channelCount: channelCount, tolerance: tolerance, capacity: sampleRate * 5)
        var device = DeviceClock(sampleRate: sampleRate)
        var course = DeviceLine()
        var position = 0
        var isOpen = true
    }

    private let clock: SteeredClock
    private let log: PresentationLog?
    private let state = Mutex(State())
    private let device = Mutex<UInt32>(0)

    private init(clock: SteeredClock, log: PresentationLog?) {
        self.clock = clock
        self.log = log
    }

    static func open(
        _ library: SDLLibrary, clock: SteeredClock, log: PresentationLog?
    ) throws(HLSError) -> AudioDevice {
        let audio = AudioDevice(clock: clock, log: log)
        func failure() -> HLSError { HLSError(code: .output, cause: "no sound", detail: library.errorText) }
        guard QuietLibraries.during({ library.start(SDL.audio) }) == 0 else { throw failure() }
        let number = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { specification in
            specification.initializeMemory(as: UInt8.self, repeating: 0)
            // SDL_AudioSpec
            specification.storeBytes(of: Int32(sampleRate), as: Int32.self)
            specification.storeBytes(of: SDL.float32, toByteOffset: 4, as: UInt16.self)
            specification.storeBytes(of: UInt8(channelCount), toByteOffset: 6, as: UInt8.self)
            specification.storeBytes(of: UInt16(periodFrameCount), toByteOffset: 8, as: UInt16.self)
            let fill: Fill = { context, bytes, count in
                guard let context, let bytes else { return }
                let samples = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
                    .bindMemory(to: Float.self)
                Unmanaged<AudioDevice>.fromOpaque(context).takeUnretainedValue().fill(samples)
            }
            specification.storeBytes(of: unsafeBitCast(fill, to: Int.self), toByteOffset: 16, as: Int.self)
            // The reference is released when the device is closed.
            let context = Unmanaged.passRetained(audio).toOpaque()
            specification.storeBytes(of: Int(bitPattern: context), toByteOffset: 24, as: Int.self)
            guard let base = specification.baseAddress else { return UInt32(0) }
            // The second half receives the actual format, which is the same because no changes are allowed.
            return QuietLibraries.during { library.openAudio(nil, 0, base, base + 32, 0) }
        }
        guard number != 0 else {
            let error = failure()
            Unmanaged.passUnretained(audio).release()
            library.stop(SDL.audio)
            throw error
        }
        audio.device.withLock { $0 = number }
        library.pauseAudio(number, 0)
        return audio
    }

    private typealias Fill = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Void

    /// Closes the device and returns after its last request. Call it once.
    func close(_ library: SDLLibrary) {
        let number = device.withLock { number in
            defer { number = 0 }
            return number
        }
        guard number != 0 else { return }
        library.closeAudio(number)
        library.stop(SDL.audio)
        Unmanaged.passUnretained(self).release()
    }

    func play(_ buffer: AudioOutput.Buffer, of source: Int) {
        guard case .float32(let samples) = buffer.samples, buffer.channelCount == Self.channelCount,
            buffer.sampleRate == Self.sampleRate
        else { return }
        let heard = buffer.hostTime + WatchTiming.delay
        let place = state.withLock { state -> Int? in
            guard let place = state.device.frame(at: heard - Self.latency) else { return nil }
            state.line.insert(samples, at: place, source: source)
            return place
        }
        guard let log, let place else { return }
        log.note(buffer, at: place, due: heard)
    }

    func flush(_ source: Int) { state.withLock { $0.line.removeAll(of: source) } }

    /// The time of the audible sample on the player's clock, not counting ``WatchTiming/delay``, or `nil` if unknown.
    func time(at moment: HostTime) -> HostTime? { state.withLock { $0.course.time(at: moment) } }

    /// Samples per channel that arrived too late to be played.
    var lateFrameCount: Int { state.withLock { $0.line.lateFrameCount } }

    private func fill(_ samples: UnsafeMutableBufferPointer<Float>) {
        let (moment, shown) = (SourceClock.host.now, clock.now)
        let (frame, measurement, taken) = state.withLock { state in
            let frame = state.position
            let (shift, measurement) = state.device.note(frame: frame, at: moment, shown: shown)
            if shift != 0 {
                state.line.shift(by: shift)
                state.course.reset()
            }
            if let measurement { state.course.note(measurement) }
            let taken = state.line.take(into: samples)
            state.position += samples.count / Self.channelCount
            return (frame, measurement, taken)
        }
        if let measurement { clock.steer(to: measurement.time, at: measurement.moment) }
        if taken.isAudio { log?.noteHeard(frame: frame, at: moment + Self.latency, peak: taken.peak) }
    }
}

package enum WatchTiming {
    /// How long after their time video and audio are presented. The device and slow threads need this margin.
    package static let delay = Duration.milliseconds(120)
}
