import HLSKitLoading
public import HLSKitMedia
public import HLSKitTime

/// Gives compressed samples with their tracks, each when the timebase reaches its decoding time.
///
/// ```swift
/// let output = SampleOutput(mediaTypes: [.video])
/// try item.add(output)
/// for await sample in output.samples() where sample.sample.isSync { note(sample.itemTime) }
/// ```
///
/// Without pacing (`PlayerConfiguration.pacing`) the player waits for readers of ``samples()``. With pacing a reader that falls
/// behind by 256 samples loses the oldest, which ``numberOfLostSamples`` counts.
public final class SampleOutput: PlayerItemOutput {
    /// One access unit.
    public struct Sample: Sendable {
        /// The track, as a decoder needs it.
        public let track: MediaTrack
        /// The bytes, and times as the container has them.
        public let sample: MediaSample
        /// Presentation time on the item's timeline.
        public let itemTime: MediaTime
    }

    /// Samples that wait for a reader of ``samples()``.
    package static let maximumSampleCount = 256

    /// The kinds of media to deliver.
    public let mediaTypes: Set<MediaKind>
    private let sequence = MediaReaders<Sample>(limit: maximumSampleCount)
    private let flushNotices = Broadcast<Void>(.bufferingNewest(4))
    public let binding = OutputBinding()

    /// - Parameter mediaTypes: video, audio, or both (the default). Other kinds have outputs of their own.
    public init(mediaTypes: Set<MediaKind> = [.video, .audio]) {
        self.mediaTypes = mediaTypes.intersection([.video, .audio])
    }

    /// The samples of each kind of media in decoding order. Ends when the output is taken from its item, and when the
    /// item fails or is played no longer.
    public func samples() -> AsyncStream<Sample> { binding.subscribe(to: sequence) }

    /// Samples that readers of ``samples()`` have lost so far, because they read more slowly than time passes; 0 without pacing.
    public var numberOfLostSamples: Int { sequence.lostCount }

    /// Tells that time has jumped: a decoder begins again. Ends as ``samples()``.
    public func flushes() -> AsyncStream<Void> { binding.subscribe(to: flushNotices) }
}

extension SampleOutput: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package var sampleTypes: Set<MediaKind> { mediaTypes }

    package func receive(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock) {
        sequence.send(Sample(track: track, sample: sample, itemTime: itemTime))
    }

    package func flush(generation: Int) {
        sequence.flush(generation: generation)
        flushNotices.send(())
    }

    /// Nothing to do: a seek may bring more.
    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        sequence.finish()
        flushNotices.finish()
    }
}

extension SampleOutput {
    /// What the player calls.
    private final class Intake: SampleReceiver, ReadOutput {
        let output: SampleOutput
        var binding: OutputBinding { output.binding }

        init(output: SampleOutput) { self.output = output }

        var sampleTypes: Set<MediaKind> { output.mediaTypes }
        func receive(_ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, clock: OutputClock) {
            output.receive(sample, of: track, at: itemTime, clock: clock)
        }
        var lostCount: Int { output.sequence.lostCount }
        func waitForRoom(generation: Int) async { await output.sequence.waitForRoom(generation: generation) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
