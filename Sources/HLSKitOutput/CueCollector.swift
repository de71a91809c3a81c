public import HLSKitCaptions
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// Collects the cues of the selected subtitles as they are loaded, and the closed captions of all services in the video,
/// each once and with its final times. For saving them; what shows them is ``LegibleOutput``.
///
/// ```swift
/// let collector = CueCollector()
/// try item.add(collector)
/// // … the item has played to its end:
/// let file = try CaptionFileWriter(format: .webVTT).write(collector.cues.map(\.caption))
/// ```
///
/// A choice of other subtitles takes the cues away that were collected; a seek does not. The newest 100 000 of both
/// kinds are kept.
public final class CueCollector: PlayerItemOutput {
    /// More are not kept, the oldest go first.
    package static let maximumCount = 100_000

    private struct State {
        var cues = DistinctList<LegibleCue>(maximumCount: maximumCount)
        var closedCaptions = DistinctList<ClosedCaption>(maximumCount: maximumCount)
    }

    private let state = Mutex(State())
    public let binding = OutputBinding()

    /// Makes a collector without cues.
    public init() {}

    /// The cues of the selected option of the legible group so far, by their starts.
    public var cues: [LegibleCue] {
        let cues = state.withLock(\.cues.elements)
        return cues.enumerated().sorted {
            ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset)
        }.map(\.element)
    }

    /// The closed captions so far that have left the screen, whatever is selected, in the order of their ends.
    public var closedCaptions: [ClosedCaption] { state.withLock(\.closedCaptions.elements) }
}

extension CueCollector: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package func receive(_ cues: [LegibleCue]) { state.withLock { $0.cues.add(cues) } }

    package func replace(_ changes: [CueChange]) {
        state.withLock { state in
            for change in changes { state.cues.replace(change.old, by: change.new) }
        }
    }

    package func receive(_ captions: [ClosedCaption]) { state.withLock { $0.closedCaptions.add(captions) } }

    package func removeCues() { state.withLock { $0.cues.removeAll() } }

    /// Nothing to do: cues are kept for good.
    package func flush(generation: Int) {}

    /// Nothing to do: cues are kept for good.
    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    /// Nothing to do: cues are kept for good.
    package func end() {}
}

extension CueCollector {
    /// What the player calls.
    private final class Intake: CueReceiver, ClosedCaptionReceiver {
        let output: CueCollector
        var binding: OutputBinding { output.binding }

        init(output: CueCollector) { self.output = output }

        func receive(_ cues: [LegibleCue]) { output.receive(cues) }
        func replace(_ changes: [CueChange]) { output.replace(changes) }
        func removeCues() { output.removeCues() }
        func receive(_ captions: [ClosedCaption]) { output.receive(captions) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
