public import HLSKitCaptions
import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime
import Synchronization

/// Gives the subtitles that are shown, each time that they change: a cue enters or leaves.
///
/// ```swift
/// let output = LegibleOutput()
/// try item.add(output)
/// for await shown in output.cues() { screen.text = shown.cues.map(\.text).joined(separator: "\n") }
/// ```
///
/// Which subtitles those are is the item's choice of rendition, or the program's: captions that the output is made with.
/// A cue whose segment comes late enters as soon as it is there. A reader that falls behind by 64
/// changes loses the oldest; of the item's cues that are known ahead of their time 4096 are kept.
public final class LegibleOutput: PlayerItemOutput {
    /// The text shown from a given time on.
    public struct Delivery: Sendable, Hashable {
        /// When it begins to be shown.
        public let itemTime: MediaTime
        /// All cues that are shown then, by their starts; none if the last has left, or time has jumped.
        public let cues: [LegibleCue]
        /// The cues of formats in ``LegibleOutput/nativeRepresentations``, which ``cues`` is without: a sample of a
        /// `wvtt` track (ISO/IEC 14496-30 §7) that shows them from ``itemTime`` until the next delivery, one that shows
        /// nothing included. nil if no format was asked for.
        public let nativeSample: [UInt8]?
    }

    /// A format of subtitles that can be given as it is.
    public enum NativeRepresentation: Sendable, Hashable {
        case webVTT
    }

    /// Changes that wait for a reader of ``cues()``.
    package static let maximumDeliveryCount = 64
    private static let maximumCueCount = 4096

    private struct Entry {
        var start: Duration
        var end: Duration
        var cue: LegibleCue
    }

    private struct State {
        /// By their starts.
        var entries: [Entry]
        /// Up to where changes were delivered; nil before the first.
        var deliveredUpTo: Duration?
        var shown: [LegibleCue] = []
        /// A cue has come whose time has begun.
        var isLate = false
    }

    /// How much earlier than their time changes are delivered.
    public let advanceInterval: Duration
    /// Formats that are not given as cues but as samples. TTML and closed captions are cues always.
    public let nativeRepresentations: Set<NativeRepresentation>
    /// nil where the item's own subtitles are shown.
    private let sidecar: [Entry]?
    private let state: Mutex<State>
    private let sequence = Broadcast<Delivery>(.bufferingNewest(maximumDeliveryCount))
    public let binding = OutputBinding()

    /// - Parameters:
    ///   - advanceInterval: how much earlier than their time, in seconds of the item, changes are delivered, for
    ///     whoever needs time to draw. Default: none. Negative ones count as none.
    ///   - nativeRepresentations: formats to give as samples of their own kind, for whoever draws or stores
    ///     those. Default: none. AVFoundation's `mediaSubtypesForNativeRepresentation`.
    public init(advanceInterval: Duration = .zero, nativeRepresentations: Set<NativeRepresentation> = []) {
        self.advanceInterval = max(.zero, advanceInterval)
        self.nativeRepresentations = nativeRepresentations
        sidecar = nil
        state = Mutex(State(entries: []))
    }

    /// Shows captions of the program's own, whatever subtitles are selected: those of a file beside the stream, say.
    ///
    /// ```swift
    /// let file = try CaptionFileReader(format: .subRip).read(bytes)
    /// try item.add(LegibleOutput(captions: file.captions, language: "de"))
    /// ```
    ///
    /// - Parameters:
    ///   - captions: at times of the item, in any order; those without a time are left out.
    ///   - language: BCP 47 tag of the cues; nil if it is not known.
    ///   - advanceInterval: as of `init(advanceInterval:)`.
    public init(captions: [Caption], language: String? = nil, advanceInterval: Duration = .zero) {
        self.advanceInterval = max(.zero, advanceInterval)
        nativeRepresentations = []
        let sorted = Self.sorted(captions.compactMap { Self.entry(LegibleCue($0, language: language)) })
        sidecar = sorted
        state = Mutex(State(entries: sorted))
    }

    /// nil for what is never shown.
    private static func entry(_ cue: LegibleCue) -> Entry? {
        guard let start = cue.timeRange.start.duration else { return nil }
        // One without an end stays: longer than anybody watches.
        let isOpen = cue.timeRange.duration == .positiveInfinity || cue.timeRange.duration == .indefinite
        guard let end = isOpen ? start + .seconds(86_400) : cue.timeRange.end.duration, end > start else { return nil }
        return Entry(start: start, end: end, cue: cue)
    }

    /// By their starts; those of one start stay in their order.
    private static func sorted(_ entries: [Entry]) -> [Entry] {
        entries.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
    }

    /// The changes, in order. Ends when the output is taken from its item, and when the item fails or
    /// is played no longer.
    public func cues() -> AsyncStream<Delivery> { binding.subscribe(to: sequence) }

    /// The cues that are shown at `itemTime`, by their starts, as far as they are known and not long over.
    public func currentCues(at itemTime: MediaTime) -> [LegibleCue] {
        guard let time = itemTime.duration else { return [] }
        return state.withLock { Self.cues(at: time, $0) }
    }

    private static func cues(at time: Duration, _ state: State) -> [LegibleCue] {
        state.entries.filter { $0.start <= time && time < $0.end }.map(\.cue)
    }
}

extension LegibleOutput: IntakeOutput, SelectiveOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    var takesCues: Bool { sidecar == nil }
    var takesMetadata: Bool { false }

    package func receive(_ cues: [LegibleCue]) {
        state.withLock { state in
            let added = cues.compactMap(Self.entry)
            if let delivered = state.deliveredUpTo, added.contains(where: { $0.start <= delivered }) {
                state.isLate = true
            }
            state.entries = Self.sorted(state.entries + added)
            let excess = state.entries.count - Self.maximumCueCount
            if excess > 0 { state.entries.removeFirst(excess) }
        }
    }

    package func replace(_ changes: [CueChange]) {
        state.withLock { state in
            for change in changes {
                guard let end = change.new.timeRange.end.duration,
                    let index = state.entries.lastIndex(where: { $0.cue == change.old })
                else { continue }
                let start = state.entries[index].start
                state.entries[index] = Entry(start: start, end: end, cue: change.new)
                if let delivered = state.deliveredUpTo, end <= delivered || start <= delivered { state.isLate = true }
                // An end that moves is no change of what is shown.
                guard change.old.payload == change.new.payload, change.old.settings == change.new.settings,
                    let shown = state.shown.firstIndex(of: change.old)
                else { continue }
                state.shown[shown] = change.new
            }
        }
    }

    package var nextDelivery: Duration? {
        state.withLock { state in
            guard let delivered = state.deliveredUpTo, !state.isLate else {
                return state.entries.first.map { $0.start - advanceInterval }
            }
            return state.entries.lazy.flatMap { [$0.start, $0.end] }.filter { $0 > delivered }.min()
                .map { $0 - advanceInterval }
        }
    }

    package func deliver(upTo time: Duration, at clock: OutputClock) {
        let time = time + advanceInterval
        let deliveries = state.withLock { state -> [Delivery] in
            var deliveries: [Delivery] = []
            let since = state.deliveredUpTo ?? time
            let changes = Set(state.entries.flatMap { [$0.start, $0.end] }.filter { since < $0 && $0 < time })
            for change in changes.sorted() + [time] {
                let shown = Self.cues(at: change, state)
                guard shown != state.shown else { continue }
                state.shown = shown
                // What began between two looks began at its own time.
                let start = Self.lastChange(state, upTo: change)
                deliveries.append(delivery(of: shown, at: MediaTime(start)))
            }
            state.deliveredUpTo = time
            state.isLate = false
            // For some seconds they may be asked for.
            state.entries.removeAll { $0.end < time - .seconds(10) }
            return deliveries
        }
        for delivery in deliveries { sequence.send(delivery) }
    }

    private func delivery(of shown: [LegibleCue], at time: MediaTime) -> Delivery {
        guard nativeRepresentations.contains(.webVTT) else {
            return Delivery(itemTime: time, cues: shown, nativeSample: nil)
        }
        let native = shown.filter(\.isWebVTT).map {
            (identifier: $0.identifier, settings: $0.settings, payload: $0.payload)
        }
        return Delivery(
            itemTime: time, cues: shown.filter { !$0.isWebVTT }, nativeSample: WebVTTSample.bytes(of: native))
    }

    /// Of a cue that came late, the time at which it could first be shown.
    private static func lastChange(_ state: State, upTo time: Duration) -> Duration {
        state.entries.flatMap { [$0.start, $0.end] }
            .filter { change in change <= time && state.deliveredUpTo.map { $0 < change } ?? true }.max() ?? time
    }

    package func removeCues() {
        if sidecar == nil { clear() }
    }

    private func clear() {
        let wasShown = state.withLock { state in
            defer { state = State(entries: sidecar ?? []) }
            return !state.shown.isEmpty
        }
        // They leave at once, at a time that is told by whoever knows it.
        if wasShown {
            sequence.send(delivery(of: [], at: binding.clock?.itemTime ?? .invalid))
        }
    }

    package func flush(generation: Int) { clear() }

    /// Nothing to do: a seek may bring more.
    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        state.withLock { $0 = State(entries: sidecar ?? []) }
        sequence.finish()
    }
}

extension LegibleOutput {
    /// What the player calls.
    private final class Intake: CueReceiver, TimedOutput {
        let output: LegibleOutput
        var binding: OutputBinding { output.binding }

        init(output: LegibleOutput) { self.output = output }

        func receive(_ cues: [LegibleCue]) { output.receive(cues) }
        func replace(_ changes: [CueChange]) { output.replace(changes) }
        func removeCues() { output.removeCues() }
        var nextDelivery: Duration? { output.nextDelivery }
        func deliver(upTo time: Duration, at clock: OutputClock) { output.deliver(upTo: time, at: clock) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
