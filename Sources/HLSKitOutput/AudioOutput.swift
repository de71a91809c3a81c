package import HLSKitCodec
import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
public import HLSKitTime
import Synchronization

/// An output that delivers an item's audio as PCM, each buffer when the timebase reaches it.
///
/// ```swift
/// let output = AudioOutput(format: .init(sampleFormat: .int16, sampleRate: 48_000, channelCount: 2))
/// try item.add(output)
/// for await buffer in output.buffers() { write(buffer.bytes) }
/// ```
///
/// A buffer's duration is its audible duration. At rate 2, for example, a buffer of 10 ms covers 20 ms of the item. By
/// default, the pitch does not change (see `PlayerItem.audioTimePitchAlgorithm`). Buffers follow each other without
/// gaps, even if the rate changes. The output applies `Player.volume` and `isMuted` with ramps of 5 ms. There is no
/// audio in reverse playback.
///
/// The output keeps at most 64 buffers for ``copyNextBuffer()`` and drops the oldest. The time of the next buffer shows
/// the loss.
///
/// A reader of ``buffers()`` reads at its own pace. Without pacing (`PlayerConfiguration.pacing`), decoding waits for
/// the reader, which receives all audio. With pacing, time does not wait. A reader that falls behind by 64 buffers
/// loses the oldest, which ``numberOfLostBuffers`` counts.
public final class AudioOutput: PlayerItemOutput {
    /// The format of a sample.
    public enum SampleFormat: String, Sendable, Hashable, Codable, CaseIterable {
        /// 32-bit float, nominally -1 to 1.
        case float32
        /// Signed 16 bit, in the machine's byte order.
        case int16
    }

    /// A format of PCM audio.
    public struct Format: Sendable, Hashable {
        /// The sample format.
        ///
        /// The default is 32-bit float.
        public var sampleFormat: SampleFormat
        /// The samples per second and channel, from 1,000 to 768,000.
        ///
        /// With `nil`, the rate is the source's and may change.
        public var sampleRate: Int?
        /// The number of channels, from 1 to 64.
        ///
        /// With `nil`, the source determines the number, which may change.
        public var channelCount: Int?

        /// Creates a format and limits the values to their ranges.
        ///
        /// By default, samples are floats with the source's rate and channels.
        public init(sampleFormat: SampleFormat = .float32, sampleRate: Int? = nil, channelCount: Int? = nil) {
            self.sampleFormat = sampleFormat
            self.sampleRate = sampleRate.map { min(max($0, 1000), 768_000) }
            self.channelCount = channelCount.map { min(max($0, 1), 64) }
        }
    }

    /// A few milliseconds of audio.
    public struct Buffer: Sendable {
        /// Interleaved samples, one of each channel in turn.
        public enum Samples: Sendable, Hashable {
            case float32([Float])
            case int16([Int16])
        }

        /// The samples per second and channel.
        public let sampleRate: Int
        /// The number of channels.
        public let channelCount: Int
        /// The samples per channel.
        public let frameCount: Int
        /// The samples: ``frameCount`` × ``channelCount``.
        public let samples: Samples
        /// The time range of the buffer on the item's timeline.
        public let itemTimeRange: MediaTimeRange
        /// The time on the player's ``Player/sourceClock`` at which the first sample is due.
        public let hostTime: HostTime
        /// The audible duration of the buffer.
        public var duration: Duration { .seconds(1) * frameCount / max(1, sampleRate) }

        /// The samples in their memory layout.
        public var bytes: [UInt8] {
            switch samples {
            case .float32(let samples): samples.withUnsafeBytes { Array($0) }
            case .int16(let samples): samples.withUnsafeBytes { Array($0) }
            }
        }
    }

    /// The number of buffers kept for each reader. With AAC, this is 1.4 s.
    package static let maximumBufferCount = 64

    private struct State {
        var generation = 0
        var converter: AudioConverter
        /// The end of the last prepared audio, to skip that audio when its time comes.
        var preparedUpTo: Duration?
        var runs: [AudioRun] = []
        var gain: Float?
        var buffers: [Buffer] = []
    }

    /// The format of every buffer.
    public let format: Format
    private let state: Mutex<State>
    private let sequence = MediaReaders<Buffer>(limit: maximumBufferCount)
    private let flushNotices = Broadcast<Void>(.bufferingNewest(4))
    public let binding = OutputBinding()

    /// Audio further than this from the previous end starts a new run.
    private static let gapTolerance = Duration.milliseconds(3)

    /// Creates an output.
    ///
    /// - Parameter format: The format of the buffers. The default is floats with the source's rate and channels.
    public init(format: Format = .init()) {
        self.format = format
        state = Mutex(State(converter: Self.converter(format)))
    }

    private static func converter(_ format: Format) -> sending AudioConverter {
        AudioConverter(
            to: .float32, followsInput: true, sampleRate: format.sampleRate, channelCount: format.channelCount)
    }

    /// Takes the oldest remaining buffer, or returns `nil` if there is none yet.
    public func copyNextBuffer() -> Buffer? {
        state.withLock { $0.buffers.isEmpty ? nil : $0.buffers.removeFirst() }
    }

    /// Returns a sequence of the audio from now on.
    ///
    /// The sequence ends when the output is removed from its item, when the item fails and when it is no longer played.
    public func buffers() -> AsyncStream<Buffer> { binding.subscribe(to: sequence) }

    /// The number of buffers that readers of ``buffers()`` have lost because they are slower than playback.
    ///
    /// A buffer that two readers lose counts twice. Without pacing, the number is 0, because decoding waits for
    /// readers.
    public var numberOfLostBuffers: Int { sequence.lostCount }

    /// Returns a sequence with an element for each time jump.
    ///
    /// When an element arrives, discard the audio that is not audible yet. The sequence ends when the sequence of
    /// ``buffers()`` does.
    public func flushes() -> AsyncStream<Void> { binding.subscribe(to: flushNotices) }
}

extension AudioOutput: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package var limits: OutputLimits { OutputLimits(maximumChannelCount: format.channelCount) }

    package func prepare(_ buffer: AudioBuffer, at clock: OutputClock) {
        state.withLock { Self.take(buffer, clock, &$0) }
    }

    package func receive(_ buffer: AudioBuffer, at clock: OutputClock) {
        guard let time = buffer.itemTime?.duration else { return }
        deliver(clock) { state in
            // Outputs that were added late have not seen it before.
            Self.take(buffer, clock, &state)
            return time + .seconds(1) * buffer.frameCount / max(1, buffer.sampleRate)
        }
    }

    package func finish(_ type: MediaKind, at clock: OutputClock) {
        deliver(clock) { state in
            for index in state.runs.indices { state.runs[index].end() }
            return nil
        }
    }

    private func deliver(_ clock: OutputClock, prepare: (inout State) -> Duration?) {
        let buffers = state.withLock { state -> [Buffer] in
            guard clock.generation >= state.generation, clock.rate >= 0 else { return [] }
            let time = prepare(&state)
            let buffers = Self.takeOut(upTo: time, clock, format.sampleFormat, &state)
            state.buffers += buffers
            let excess = state.buffers.count - Self.maximumBufferCount
            if excess > 0 { state.buffers.removeFirst(excess) }
            return buffers
        }
        for buffer in buffers { sequence.send(buffer) }
    }

    private static func take(_ buffer: AudioBuffer, _ clock: OutputClock, _ state: inout State) {
        guard clock.generation >= state.generation, let start = buffer.itemTime?.duration else { return }
        let end = start + .seconds(1) * buffer.frameCount / max(1, buffer.sampleRate)
        if let known = state.preparedUpTo, known >= end - .microseconds(1) { return }
        state.preparedUpTo = end
        var bytes: [UInt8] = []
        guard (try? state.converter.convert(buffer, into: &bytes)) != nil, let rate = state.converter.sampleRate,
            let channelCount = state.converter.channelCount, rate > 0, channelCount > 0
        else { return }
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let continues =
            state.runs.last.map { run in
                run.sampleRate == rate && run.channelCount == channelCount
                    && (state.converter.isResampling || abs(run.end - start) < gapTolerance)
                    && abs(run.end - start) < gapTolerance * 10
            } ?? false
        if !continues {
            if !state.runs.isEmpty { state.runs[state.runs.count - 1].end() }
            state.runs.append(AudioRun(start: start, sampleRate: rate, channelCount: channelCount))
        }
        state.runs[state.runs.count - 1].append(samples)
    }

    private static func takeOut(
        upTo time: Duration?, _ clock: OutputClock, _ format: SampleFormat, _ state: inout State
    ) -> [Buffer] {
        var buffers: [Buffer] = []
        for index in state.runs.indices {
            guard
                let piece = state.runs[index].take(
                    upTo: time, rate: clock.rate, algorithm: clock.pitchAlgorithm)
            else { continue }
            let run = state.runs[index]
            var samples = piece.samples
            apply(clock.gain, to: &samples, run, &state.gain)
            let (start, end) = (run.time(of: piece.position), run.time(of: run.position))
            buffers.append(
                Buffer(
                    sampleRate: run.sampleRate, channelCount: run.channelCount,
                    frameCount: samples.count / run.channelCount, samples: Self.samples(samples, as: format),
                    itemTimeRange: MediaTimeRange(start: MediaTime(start), duration: MediaTime(end - start)),
                    hostTime: clock.host(of: start)))
        }
        state.runs.removeAll(where: \.isSpent)
        return buffers
    }

    /// Ramps to the new gain by one hundredth of full scale every 50 µs.
    private static func apply(_ gain: Float, to samples: inout [Float], _ run: AudioRun, _ current: inout Float?) {
        var now = current ?? gain
        current = gain
        if now == 1, gain == 1 { return }
        let step = 200 / Float(run.sampleRate)
        for frame in 0..<samples.count / run.channelCount {
            if now != gain { now = now < gain ? min(gain, now + step) : max(gain, now - step) }
            for channel in 0..<run.channelCount { samples[frame * run.channelCount + channel] *= now }
        }
        current = now
    }

    private static func samples(_ samples: [Float], as format: SampleFormat) -> Buffer.Samples {
        switch format {
        case .float32: .float32(samples)
        case .int16:
            .int16(
                samples.map { sample in
                    let scaled = (sample * 32_768).rounded()
                    return scaled.isNaN ? 0 : Int16(min(max(scaled, -32_768), 32_767))
                })
        }
    }

    package func flush(generation: Int) {
        let isNews = state.withLock { state in
            defer {
                state.generation = generation
                Self.reset(&state, format)
            }
            return generation > state.generation && state.preparedUpTo != nil
        }
        sequence.flush(generation: generation)
        if isNews { flushNotices.send(()) }
    }

    package func end() {
        state.withLock { state in
            state.generation = 0
            Self.reset(&state, format)
        }
        sequence.finish()
        flushNotices.finish()
    }

    private static func reset(_ state: inout State, _ format: Format) {
        state.converter = converter(format)
        state.preparedUpTo = nil
        state.runs = []
        state.buffers = []
    }
}

extension AudioOutput {
    private final class Intake: EarlyAudioReceiver, LimitedOutput, ReadOutput {
        let output: AudioOutput
        var binding: OutputBinding { output.binding }

        init(output: AudioOutput) { self.output = output }

        var limits: OutputLimits { output.limits }
        var lostCount: Int { output.sequence.lostCount }
        func waitForRoom(generation: Int) async { await output.sequence.waitForRoom(generation: generation) }
        func prepare(_ buffer: AudioBuffer, at clock: OutputClock) { output.prepare(buffer, at: clock) }
        func receive(_ buffer: AudioBuffer, at clock: OutputClock) { output.receive(buffer, at: clock) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
