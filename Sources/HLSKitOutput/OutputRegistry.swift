import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
import Synchronization

package final class OutputRegistry: Sendable {
    package final class OutputEntry: Sendable {
        package let output: any PlayerItemOutput
        package let receiver: (any OutputReceiver)?
        package let frames: (any FrameReceiver)?
        package let earlyFrames: (any EarlyFrameReceiver)?
        package let audio: (any AudioReceiver)?
        package let earlyAudio: (any EarlyAudioReceiver)?
        package let samples: (any SampleReceiver)?
        package let cues: (any CueReceiver)?
        package let closedCaptions: (any ClosedCaptionReceiver)?
        package let metadata: (any MetadataReceiver)?
        package let dateRanges: (any DateRangeReceiver)?
        package let timed: (any TimedOutput)?
        package let read: (any ReadOutput)?
        let limited: (any LimitedOutput)?

        init(_ output: any PlayerItemOutput) {
            let selective = output as? any SelectiveOutput
            let receiver: any PlayerItemOutput = (output as? any IntakeOutput)?.intake ?? output
            self.output = output
            self.receiver = receiver as? any OutputReceiver
            frames = receiver as? any FrameReceiver
            earlyFrames = receiver as? any EarlyFrameReceiver
            audio = receiver as? any AudioReceiver
            earlyAudio = receiver as? any EarlyAudioReceiver
            samples = receiver as? any SampleReceiver
            cues = selective?.takesCues == false ? nil : receiver as? any CueReceiver
            closedCaptions = receiver as? any ClosedCaptionReceiver
            metadata = selective?.takesMetadata == false ? nil : receiver as? any MetadataReceiver
            dateRanges = receiver as? any DateRangeReceiver
            timed = receiver as? any TimedOutput
            read = receiver as? any ReadOutput
            limited = receiver as? any LimitedOutput
        }

        package func takesFrames(of type: MediaKind) -> Bool {
            type == .video && frames != nil || type == .audio && audio != nil
        }

        package func takesSamples(of type: MediaKind) -> Bool { samples?.sampleTypes.contains(type) ?? false }

        var takesCues: Bool { cues != nil || closedCaptions != nil }

        package func suppresses(_ type: MediaKind) -> Bool {
            (takesFrames(of: type) || takesSamples(of: type)) && output.binding.suppressesPlayerRendering
        }
    }

    /// A writer with the media that it accepts. Writers that were present from the start wait for each other's kinds of
    /// media.
    package struct WriterEntry: Sendable {
        package let id: Int
        package let writer: any MediaWriter
        package let capabilities: WriterCapabilities
        package let isLate: Bool
        package let isReadAsWritten: Bool
        package let reported = ReportedTracks()

        func takesFrames(of type: MediaKind) -> Bool {
            type == .video && capabilities.frames != nil || type == .audio && capabilities.audio != nil
        }

        package func takesSamples(of type: MediaKind) -> Bool {
            capabilities.samples != nil && writer.mediaTypes.contains(type)
        }
    }

    package final class ReportedTracks: Sendable {
        private let tracks = Mutex<[MediaTrack]?>(nil)

        package func isNews(_ new: [MediaTrack]) -> Bool {
            tracks.withLock { tracks in
                defer { tracks = new }
                return tracks != new
            }
        }
    }

    private struct State {
        var outputs: [OutputEntry] = []
        var writers: [WriterEntry] = []
        var lastWriter = 0
        var pitchAlgorithm = AudioTimePitchAlgorithm.timeDomain
        var clock: (@Sendable () -> OutputClock)?
        var noteChange: (@Sendable () -> Void)?
        var isOver = false
    }

    private let state = Mutex(State())
    /// The registry whose writers this one uses, or `nil` for its own.
    private let leader: OutputRegistry?
    package let cursor: WriterCursor

    package init() {
        leader = nil
        cursor = WriterCursor()
    }

    package init(following leader: OutputRegistry) {
        self.leader = leader
        cursor = leader.cursor
    }

    deinit {
        for entry in outputs {
            entry.output.binding.release()
            entry.receiver?.end()
        }
    }

    package var outputs: [OutputEntry] { state.withLock { $0.outputs } }
    package var writers: [WriterEntry] { leader?.writers ?? state.withLock { $0.writers } }

    package var pitchAlgorithm: AudioTimePitchAlgorithm {
        get { state.withLock { $0.pitchAlgorithm } }
        set { state.withLock { $0.pitchAlgorithm = newValue } }
    }

    // MARK: The item's side

    package func add(_ writer: any MediaWriter) {
        let (capabilities, isReadAsWritten) = (WriterCapabilities(writer), writer.isReadAsWritten)
        state.withLock { state in
            state.lastWriter += 1
            state.writers.append(
                WriterEntry(
                    id: state.lastWriter, writer: writer, capabilities: capabilities, isLate: state.noteChange != nil,
                    isReadAsWritten: isReadAsWritten))
        }
        noteChange()
    }

    package func remove(_ writer: any MediaWriter & AnyObject) {
        state.withLock { $0.writers.removeAll { $0.writer as AnyObject === writer } }
        noteChange()
    }

    package func add(_ output: any PlayerItemOutput) -> Bool {
        guard output.binding.take(noteChange: { [weak self] in self?.noteChange() }) else { return false }
        let entry = OutputEntry(output)
        let (clock, isOver) = state.withLock { state in
            state.outputs.append(entry)
            return (state.clock, state.isOver)
        }
        if isOver {
            output.binding.end()
        } else if let clock {
            output.binding.begin(clock: clock)
        }
        noteChange()
        return true
    }

    package func remove(_ output: any PlayerItemOutput) -> Bool {
        let entry = state.withLock { state -> OutputEntry? in
            guard let index = state.outputs.firstIndex(where: { $0.output === output }) else { return nil }
            return state.outputs.remove(at: index)
        }
        guard let entry else { return false }
        output.binding.release()
        entry.receiver?.end()
        noteChange()
        return true
    }

    private func noteChange() {
        let note = state.withLock { $0.noteChange }
        note?()
    }

    // MARK: The player's side

    /// Notes that the item is played from now on. Any thread calls `noteChange` when an output is added, is removed or
    /// changes its needs.
    package func open(clock: @escaping @Sendable () -> OutputClock, noteChange: @escaping @Sendable () -> Void) {
        let outputs = state.withLock { state in
            state.clock = clock
            state.noteChange = noteChange
            state.isOver = false
            return state.outputs
        }
        for entry in outputs { entry.output.binding.begin(clock: clock) }
    }

    package func close() {
        state.withLock { $0.noteChange = nil }
        end()
    }

    package func end() {
        let outputs = state.withLock { state in
            state.clock = nil
            state.isOver = true
            return state.outputs
        }
        for entry in outputs {
            entry.output.binding.end()
            entry.receiver?.end()
        }
    }

    // MARK: What outputs and writers want

    package func wantsFrames(of type: MediaKind) -> Bool {
        writers.contains { $0.takesFrames(of: type) } || outputs.contains { $0.takesFrames(of: type) }
    }

    package func wantsSamples(of type: MediaKind) -> Bool {
        writersWantSamples(of: type) || outputs.contains { $0.takesSamples(of: type) }
    }

    /// Whether a writer takes samples, so that lanes must join at sync samples.
    package func writersWantSamples(of type: MediaKind) -> Bool { writers.contains { $0.takesSamples(of: type) } }

    package var wantsMetadata: Bool { outputs.contains { $0.metadata != nil } }
    package var wantsCues: Bool { outputs.contains(where: \.takesCues) }
    package var wantsDateRanges: Bool { outputs.contains { $0.dateRanges != nil } }

    /// Whether the player reports no cues, because an output shows them instead.
    package var suppressesCues: Bool {
        outputs.contains { $0.takesCues && $0.output.binding.suppressesPlayerRendering }
    }

    /// The combined limits of the outputs. The largest of each kind decides.
    package var limits: OutputLimits {
        let outputs = outputs
        let limits = outputs.compactMap(\.limited?.limits)
        let listeners = outputs.filter { $0.takesFrames(of: .audio) || $0.takesSamples(of: .audio) }
        // If one output takes the channels unchanged, there is no limit.
        let channelCounts = listeners.map { $0.limited?.limits.maximumChannelCount }
        return OutputLimits(
            display: limits.compactMap(\.display).max { $0.size.pixelCount < $1.size.pixelCount },
            needsStandardRange: limits.contains(where: \.needsStandardRange),
            maximumChannelCount: channelCounts.contains(nil) ? nil : channelCounts.compactMap(\.self).max())
    }
}
