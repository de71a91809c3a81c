import HLSKitLoading
public import HLSKitMedia
public import HLSKitTime

/// An output that delivers compressed samples with their tracks, each at its decoding time.
///
/// ```swift
/// let output = SampleOutput(mediaTypes: [.video])
/// try item.add(output)
/// for await sample in output.samples() where sample.sample.isSync { note(sample.itemTime) }
/// ```
///
/// Without pacing (`PlayerConfiguration.pacing`), the player waits for readers of ``samples()``. With pacing, a reader
/// that falls behind by 256 samples loses the oldest, which ``numberOfLostSamples`` counts.
public final class SampleOutput: PlayerItemOutput {
    /// One access unit.
    public struct Sample: Sendable {
        /// The track, with the information that a decoder needs.
        public let track: MediaTrack
        /// The bytes, with the timestamps of the container.
        public let sample: MediaSample
        /// The presentation time on the item's timeline.
        public let itemTime: MediaTime
    }

    package static let maximumSampleCount = 256

    /// The kinds of media to deliver.
    public let mediaTypes: Set<MediaKind>
    private let sequence = MediaReaders<Sample>(limit: maximumSampleCount)
    private let flushNotices = Broadcast<Void>(.bufferingNewest(4))
    public let binding = OutputBinding()

    /// Creates an output.
    ///
    /// - Parameter mediaTypes: Video, audio or both. The default is both. For other kinds, use other outputs.
    public init(mediaTypes: Set<MediaKind> = [.video, .audio]) {
        self.mediaTypes = mediaTypes.intersection([.video, .audio])
    }

    /// Returns a sequence of the samples.
    ///
    /// Samples of each kind of media are in decoding order. The sequence ends when the output is removed from its item,
    /// when the item fails and when it is no longer played.
    public func samples() -> AsyncStream<Sample> { binding.subscribe(to: sequence) }

    /// The number of samples that readers of ``samples()`` have lost because they are slower than playback.
    ///
    /// Without pacing, the number is 0.
    public var numberOfLostSamples: Int { sequence.lostCount }

    /// Returns a sequence with an element for each time jump.
    ///
    /// Reset your decoder when an element arrives. The sequence ends when the sequence of ``samples()`` does.
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

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        sequence.finish()
        flushNotices.finish()
    }
}

extension SampleOutput {
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
