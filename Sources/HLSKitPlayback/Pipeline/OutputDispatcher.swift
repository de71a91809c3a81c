import HLSKitCaptions
import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitTime
import Synchronization

/// Delivers an item's media to its outputs and then to its writers, unless an output replaces the writers.
final class OutputDispatcher: Sendable {
    let registry: OutputRegistry
    let lockstep: TrackInterleaver?
    private let clock: @Sendable () -> OutputClock
    private let writers: WriterFeed
    /// The last presented frame, for outputs added while time does not pass.
    private let shown = Mutex<(frame: VideoFrame, generation: Int)?>(nil)

    /// - Parameters:
    ///   - isHeld: Whether the item is not current. Nothing is written or delivered until ``release()``.
    ///   - isPaced: Whether a clock paces the media.
    init(
        registry: OutputRegistry, clock: @escaping @Sendable () -> OutputClock, isHeld: Bool = false,
        isPaced: Bool = true
    ) {
        self.registry = registry
        lockstep = isPaced ? nil : TrackInterleaver()
        self.clock = clock
        writers = WriterFeed(registry, isHeld: isHeld, isPaced: isPaced)
    }

    // MARK: The driver's side

    func expect(_ types: Set<MediaKind>) { writers.expect(types) }

    func announce(_ types: Set<MediaKind>) { writers.announce(types) }

    func release() { writers.release() }

    func hold() { writers.hold() }

    func place(_ shift: Duration, after time: Duration?) { writers.place(shift, after: time) }

    func end() { registry.end() }

    func close() { writers.close() }

    /// Called after a jump in time. Drops media of earlier generations.
    func flush(generation: Int) {
        shown.withLock { $0 = nil }
        for entry in registry.outputs { entry.receiver?.flush(generation: generation) }
    }

    func welcome(_ entry: OutputRegistry.OutputEntry) throws(HLSError) {
        guard let frames = entry.frames, let shown = shown.withLock(\.self) else { return }
        let clock = clock(of: shown.generation)
        if clock.rate == 0, clock.isPaced { try frames.receive(shown.frame, at: clock) }
    }

    func add(_ cues: [LegibleCue]) {
        guard !cues.isEmpty else { return }
        for entry in registry.outputs { entry.cues?.receive(cues) }
    }

    func replace(_ changes: [CueChange]) {
        guard !changes.isEmpty else { return }
        for entry in registry.outputs { entry.cues?.replace(changes) }
    }

    func removeCues() {
        for entry in registry.outputs { entry.cues?.removeCues() }
    }

    func add(_ captions: [ClosedCaption]) {
        guard !captions.isEmpty else { return }
        for entry in registry.outputs { entry.closedCaptions?.receive(captions) }
    }

    func add(_ group: TimedMetadataGroup) {
        for entry in registry.outputs { entry.metadata?.receive(group) }
    }

    func update(_ dateRanges: [DateRangeMetadataGroup]) {
        for entry in registry.outputs { entry.dateRanges?.receive(dateRanges) }
    }

    /// The first item time at which an output needs media other than frames and audio.
    var nextDelivery: Duration? {
        writers.isHeld ? nil : registry.outputs.compactMap { $0.timed?.nextDelivery }.min()
    }

    func deliver(upTo time: Duration) {
        guard !writers.isHeld else { return }
        for entry in registry.outputs {
            guard let timed = entry.timed, let next = timed.nextDelivery, next <= time else { continue }
            timed.deliver(upTo: time, at: clock())
        }
    }

    // MARK: The renderers' side

    func begin(_ track: MediaTrack, at time: Duration) async throws(HLSError) {
        try await writers.begin(track, at: time)
    }

    func prepare(_ frame: VideoFrame, generation: Int) {
        let outputs = registry.outputs
        guard !outputs.isEmpty else { return }
        let clock = clock(of: generation)
        for entry in outputs { entry.earlyFrames?.prepare(frame, at: clock) }
    }

    func prepare(_ buffer: AudioBuffer, generation: Int) {
        let outputs = registry.outputs
        guard !outputs.isEmpty else { return }
        let clock = clock(of: generation)
        for entry in outputs { entry.earlyAudio?.prepare(buffer, at: clock) }
    }

    /// Waits until all readers have room for media of a kind. Used when there is no clock.
    func waitForReaders(of type: MediaKind, generation: Int) async {
        for entry in registry.outputs where entry.takesFrames(of: type) || entry.takesSamples(of: type) {
            await entry.read?.waitForRoom(generation: generation)
        }
    }

    func lostCount(of type: MediaKind) -> Int {
        registry.outputs.reduce(0) { sum, entry in
            guard let read = entry.read, entry.takesFrames(of: type) || entry.takesSamples(of: type) else { return sum }
            return sum + read.lostCount
        }
    }

    func write(_ frame: VideoFrame, generation: Int) async throws(HLSError) {
        let outputs = registry.outputs
        shown.withLock { $0 = (frame, generation) }
        if !outputs.isEmpty {
            let clock = clock(of: generation)
            for entry in outputs { try entry.frames?.receive(frame, at: clock) }
            if outputs.contains(where: { $0.suppresses(.video) }) { return }
        }
        try await writers.write(frame)
    }

    func write(_ buffer: AudioBuffer, generation: Int) async throws(HLSError) {
        let outputs = registry.outputs
        if !outputs.isEmpty {
            let clock = clock(of: generation)
            for entry in outputs { try entry.audio?.receive(buffer, at: clock) }
            if outputs.contains(where: { $0.suppresses(.audio) }) { return }
        }
        try await writers.write(buffer)
    }

    func write(
        _ sample: MediaSample, of track: MediaTrack, at itemTime: MediaTime, generation: Int
    ) async throws(HLSError) {
        let type = track.mediaType
        let outputs = registry.outputs
        if !outputs.isEmpty {
            let clock = clock(of: generation)
            for entry in outputs where entry.takesSamples(of: type) {
                try entry.samples?.receive(sample, of: track, at: itemTime, clock: clock)
            }
            if outputs.contains(where: { $0.suppresses(type) }) { return }
        }
        try await writers.write(sample, of: type, at: itemTime)
    }

    func write(
        audioLeadIn sample: MediaSample, at itemTime: MediaTime, before start: MediaTime
    ) async throws(HLSError) {
        guard !registry.outputs.contains(where: { $0.suppresses(.audio) }) else { return }
        try await writers.write(audioLeadIn: sample, at: itemTime, before: start)
    }

    func finish(_ type: MediaKind, generation: Int) {
        let outputs = registry.outputs
        guard !outputs.isEmpty else { return }
        let clock = clock(of: generation)
        for entry in outputs where entry.takesFrames(of: type) || entry.takesSamples(of: type) {
            entry.receiver?.finish(type, at: clock)
        }
    }

    private func clock(of generation: Int) -> OutputClock {
        var clock = clock()
        clock.generation = generation
        return clock
    }
}
