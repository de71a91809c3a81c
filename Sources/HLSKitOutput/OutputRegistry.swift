import HLSKitLoading
package import HLSKitMedia
package import HLSKitSelection
import Synchronization

/// The outputs and writers of an item, which come and go at any time.
package final class OutputRegistry: Sendable {
    /// An output, with what it takes.
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

        /// Writers get nothing of this kind.
        package func suppresses(_ type: MediaKind) -> Bool {
            (takesFrames(of: type) || takesSamples(of: type)) && output.binding.suppressesPlayerRendering
        }
    }

    /// A writer, with what it takes. Those that were there from the start wait for each other's kinds of media.
    package struct WriterEntry: Sendable {
        /// Counts the writers of the item.
        package let id: Int
        package let writer: any MediaWriter
        package let capabilities: WriterCapabilities
        package let isLate: Bool
        package let isReadAsWritten: Bool
        /// What it was told last, whoever told it.
        package let told = ToldTracks()

        func takesFrames(of type: MediaKind) -> Bool {
            type == .video && capabilities.frames != nil || type == .audio && capabilities.audio != nil
        }

        package func takesSamples(of type: MediaKind) -> Bool {
            capabilities.samples != nil && writer.mediaTypes.contains(type)
        }
    }

    /// The tracks that a writer knows of, which may be of several items one after the other.
    package final class ToldTracks: Sendable {
        private let tracks = Mutex<[MediaTrack]?>(nil)

        /// Whether the writer has to be told of these.
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
    /// Whose writers this one has; nil for its own.
    private let leader: OutputRegistry?
    /// Where its writers are.
    package let cursor: WriterCursor

    package init() {
        leader = nil
        cursor = WriterCursor()
    }

    /// What is written goes to the writers of another item.
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

    /// False if the output has an item already.
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

    /// False if the item does not have the output.
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

    /// The item is played from now on. `noteChange` is called by any thread when an output comes, goes or wants
    /// something else.
    package func open(clock: @escaping @Sendable () -> OutputClock, noteChange: @escaping @Sendable () -> Void) {
        let outputs = state.withLock { state in
            state.clock = clock
            state.noteChange = noteChange
            state.isOver = false
            return state.outputs
        }
        for entry in outputs { entry.output.binding.begin(clock: clock) }
    }

    /// The item is no longer played.
    package func close() {
        state.withLock { $0.noteChange = nil }
        end()
    }

    /// Nothing more comes: the item has failed, or is no longer played.
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

    /// Some writer takes samples: they have to join at sync samples.
    package func writersWantSamples(of type: MediaKind) -> Bool { writers.contains { $0.takesSamples(of: type) } }

    package var wantsMetadata: Bool { outputs.contains { $0.metadata != nil } }
    package var wantsCues: Bool { outputs.contains(where: \.takesCues) }
    package var wantsDateRanges: Bool { outputs.contains { $0.dateRanges != nil } }

    /// The player tells no cues, because an output shows them in its place.
    package var suppressesCues: Bool {
        outputs.contains { $0.takesCues && $0.output.binding.suppressesPlayerRendering }
    }

    /// What the outputs can show: the largest of each kind counts.
    package var limits: OutputLimits {
        let outputs = outputs
        let limits = outputs.compactMap(\.limited?.limits)
        let listeners = outputs.filter { $0.takesFrames(of: .audio) || $0.takesSamples(of: .audio) }
        // Where one of them takes the channels as they come, there is no limit.
        let channelCounts = listeners.map { $0.limited?.limits.maximumChannelCount }
        return OutputLimits(
            display: limits.compactMap(\.display).max { $0.size.pixelCount < $1.size.pixelCount },
            needsStandardRange: limits.contains(where: \.needsStandardRange),
            maximumChannelCount: channelCounts.contains(nil) ? nil : channelCounts.compactMap(\.self).max())
    }
}
