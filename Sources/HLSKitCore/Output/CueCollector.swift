public import HLSCaptions
import HLSTime
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
    public static let maximumCount = 100_000

    private struct State {
        var cues: [LegibleCue] = []
        var keys: Set<LegibleCue> = []
        var closedCaptions: [ClosedCaption] = []
        var captionKeys: Set<ClosedCaption> = []
    }

    private let state = Mutex(State())
    let tie = OutputTie()

    public init() {}

    public var connection: OutputConnection { OutputConnection(self) }

    /// The cues of the selected option of the legible group so far, by their starts.
    public var cues: [LegibleCue] {
        let cues = state.withLock(\.cues)
        return cues.enumerated().sorted {
            ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset)
        }.map(\.element)
    }

    /// The closed captions so far that have left the screen, whatever is selected, in the order of their ends.
    public var closedCaptions: [ClosedCaption] { state.withLock(\.closedCaptions) }
}

extension CueCollector: OutputReceiving {
    var takesCues: Bool { true }

    func add(_ cues: [LegibleCue]) {
        state.withLock { state in
            state.cues += cues.filter { state.keys.insert($0).inserted }
            let excess = state.cues.count - Self.maximumCount
            guard excess > 0 else { return }
            for cue in state.cues.prefix(excess) { state.keys.remove(cue) }
            state.cues.removeFirst(excess)
        }
    }

    func replace(_ changes: [CueChange]) {
        state.withLock { state in
            for change in changes {
                guard state.keys.remove(change.old) != nil, let index = state.cues.lastIndex(of: change.old) else {
                    continue
                }
                if state.keys.insert(change.new).inserted {
                    state.cues[index] = change.new
                } else {
                    state.cues.remove(at: index)
                }
            }
        }
    }

    func add(_ captions: [ClosedCaption]) {
        state.withLock { state in
            state.closedCaptions += captions.filter { state.captionKeys.insert($0).inserted }
            let excess = state.closedCaptions.count - Self.maximumCount
            guard excess > 0 else { return }
            for caption in state.closedCaptions.prefix(excess) { state.captionKeys.remove(caption) }
            state.closedCaptions.removeFirst(excess)
        }
    }

    func removeCues() {
        state.withLock { state in
            state.cues = []
            state.keys = []
        }
    }
}
