public import HLSKitCaptions
import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
public import HLSKitTime
import Synchronization

/// An output that delivers the visible subtitles whenever a cue appears or disappears.
///
/// ```swift
/// let output = LegibleOutput()
/// try item.add(output)
/// for await shown in output.cues() { screen.text = shown.cues.map(\.text).joined(separator: "\n") }
/// ```
///
/// The subtitles are the item's selected rendition, or captions that you pass to the initializer. A cue whose segment
/// arrives late appears as soon as it is available. A reader that falls behind by 64 changes loses the oldest. The
/// output keeps 4,096 upcoming cues of the item.
public final class LegibleOutput: PlayerItemOutput {
    /// The text that is visible from a given time on.
    public struct Delivery: Sendable, Hashable {
        /// The item time at which the text becomes visible.
        public let itemTime: MediaTime
        /// All visible cues by start time.
        ///
        /// The array is empty if the last cue has disappeared or time has jumped.
        public let cues: [LegibleCue]
        /// The visible cues of the formats in ``LegibleOutput/nativeRepresentations``.
        ///
        /// These cues are not in ``cues``. The value is a sample of a `wvtt` track (ISO/IEC 14496-30 §7) for the time
        /// from ``itemTime`` until the next delivery. A sample without cues is included. The value is `nil` if no
        /// format was requested.
        public let nativeSample: [UInt8]?
    }

    /// A subtitle format that can be delivered unchanged.
    public enum NativeRepresentation: Sendable, Hashable {
        case webVTT
    }

    package static let maximumDeliveryCount = 64
    private static let maximumCueCount = 4096

    private struct Entry {
        var start: Duration
        var end: Duration
        var cue: LegibleCue
    }

    private struct State {
        /// Sorted by start time.
        var entries: [Entry]
        var deliveredUpTo: Duration?
        var shown: [LegibleCue] = []
        var isLate = false
    }

    /// The item time by which changes are delivered early.
    public let advanceInterval: Duration
    /// The formats that are delivered as samples instead of cues.
    ///
    /// TTML and closed captions are always cues.
    public let nativeRepresentations: Set<NativeRepresentation>
    /// The captions that were passed to the initializer, or `nil` to show the item's subtitles.
    private let sidecar: [Entry]?
    private let state: Mutex<State>
    private let sequence = Broadcast<Delivery>(.bufferingNewest(maximumDeliveryCount))
    public let binding = OutputBinding()

    /// Creates an output for the item's selected subtitles.
    ///
    /// - Parameters:
    ///   - advanceInterval: The item time by which changes are delivered early, for apps that need time to draw. The
    ///     default is zero. Negative values have no effect.
    ///   - nativeRepresentations: The formats to deliver as samples, for apps that draw or store them. Empty by
    ///     default. Corresponds to AVFoundation's `mediaSubtypesForNativeRepresentation`.
    public init(advanceInterval: Duration = .zero, nativeRepresentations: Set<NativeRepresentation> = []) {
        self.advanceInterval = max(.zero, advanceInterval)
        self.nativeRepresentations = nativeRepresentations
        sidecar = nil
        state = Mutex(State(entries: []))
    }

    /// Creates an output for your own captions, such as a sidecar file.
    ///
    /// The selected subtitles have no effect on it.
    ///
    /// ```swift
    /// let file = try CaptionFileReader(format: .subRip).read(bytes)
    /// try item.add(LegibleOutput(captions: file.captions, language: "de"))
    /// ```
    ///
    /// - Parameters:
    ///   - captions: The captions with item times, in any order. Captions without a time are ignored.
    ///   - language: The BCP 47 tag of the cues, or `nil` if unknown.
    ///   - advanceInterval: As in `init(advanceInterval:)`.
    public init(captions: [Caption], language: String? = nil, advanceInterval: Duration = .zero) {
        self.advanceInterval = max(.zero, advanceInterval)
        nativeRepresentations = []
        let sorted = Self.sorted(captions.compactMap { Self.entry(LegibleCue($0, language: language)) })
        sidecar = sorted
        state = Mutex(State(entries: sorted))
    }

    private static func entry(_ cue: LegibleCue) -> Entry? {
        guard let start = cue.timeRange.start.duration else { return nil }
        // A cue without an end remains visible for a day.
        let isOpen = cue.timeRange.duration == .positiveInfinity || cue.timeRange.duration == .indefinite
        guard let end = isOpen ? start + .seconds(86_400) : cue.timeRange.end.duration, end > start else { return nil }
        return Entry(start: start, end: end, cue: cue)
    }

    /// Sorts by start time. Entries with the same start time keep their order.
    private static func sorted(_ entries: [Entry]) -> [Entry] {
        entries.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
    }

    /// Returns a sequence of the changes.
    ///
    /// The sequence ends when the output is removed from its item, when the item fails and when it is no longer played.
    public func cues() -> AsyncStream<Delivery> { binding.subscribe(to: sequence) }

    /// Returns the cues that are visible at `itemTime`, by start time.
    ///
    /// Cues that are unknown, or that ended long ago, are not included.
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
                // A changed end time does not change the visible text.
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
                // Changes between two calls keep their own times.
                let start = Self.lastChange(state, upTo: change)
                deliveries.append(delivery(of: shown, at: MediaTime(start)))
            }
            state.deliveredUpTo = time
            state.isLate = false
            // Keep cues for some seconds, because the app may request them.
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

    /// The time of the last change. If a cue arrived late, it is the time at which the cue could first be shown.
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
        // The cues disappear at once, at the current item time.
        if wasShown {
            sequence.send(delivery(of: [], at: binding.clock?.itemTime ?? .invalid))
        }
    }

    package func flush(generation: Int) { clear() }

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        state.withLock { $0 = State(entries: sidecar ?? []) }
        sequence.finish()
    }
}

extension LegibleOutput {
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
