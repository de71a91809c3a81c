public import HLSKitCaptions
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// An output that collects subtitle cues and closed captions, for example to save them.
///
/// ```swift
/// let collector = CueCollector()
/// try item.add(collector)
/// // … the item has played to its end:
/// let file = try CaptionFileWriter(format: .webVTT).write(collector.cues.map(\.caption))
/// ```
///
/// It collects the cues of the selected subtitles as they are loaded, and the closed captions of all services. Each is
/// collected once, with its final times. To display cues, use ``LegibleOutput``.
///
/// Selecting other subtitles removes the collected cues, but a seek does not. The newest 100,000 of each kind are kept.
public final class CueCollector: PlayerItemOutput {
    package static let maximumCount = 100_000

    private struct State {
        var cues = DistinctList<LegibleCue>(maximumCount: maximumCount)
        var closedCaptions = DistinctList<ClosedCaption>(maximumCount: maximumCount)
    }

    private let state = Mutex(State())
    public let binding = OutputBinding()

    /// Creates an empty collector.
    public init() {}

    /// The cues of the selected legible option so far, by start time.
    public var cues: [LegibleCue] {
        let cues = state.withLock(\.cues.elements)
        return cues.enumerated().sorted {
            ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset)
        }.map(\.element)
    }

    /// The closed captions of all services that have left the screen, in the order of their end times.
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

    /// Does nothing, because cues are kept after a seek.
    package func flush(generation: Int) {}

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {}
}

extension CueCollector {
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
