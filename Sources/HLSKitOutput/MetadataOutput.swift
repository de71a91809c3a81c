import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// Gives the timed metadata in the media of an item, each group when the timebase reaches it: ID3 tags of transport
/// streams, packed audio and `emsg` boxes, other `emsg` events, and splice information (SCTE 35) of transport streams, which
/// comes as an event of the scheme `urn:scte:scte35:2013:bin`.
///
/// ```swift
/// let output = MetadataOutput()
/// try item.add(output)
/// for await group in output.groups() { for item in group.items { print(item.identifier) } }
/// ```
///
/// One group holds one tag or event. Groups of ID3 last for an indefinite time: until the next. Metadata that lies before
/// what is read when the output is added is not given. A reader that falls behind by 1024 groups loses
/// the oldest; as many are kept ahead of their time.
public final class MetadataOutput: PlayerItemOutput {
    private struct State {
        /// By their starts, not delivered yet.
        var groups: [(start: Duration, group: TimedMetadataGroup)] = []
    }

    /// Groups that wait for a reader of ``groups()``.
    package static let maximumGroupCount = 1024

    /// Of items with other identifiers nothing is given; nil gives all.
    public let identifiers: Set<String>?
    /// How much earlier than their time groups are delivered.
    public let advanceInterval: Duration
    private let state = Mutex(State())
    private let sequence = Broadcast<TimedMetadataGroup>(.bufferingNewest(maximumGroupCount))
    public let binding = OutputBinding()

    /// - Parameters:
    ///   - identifiers: ``MetadataItem/identifier``s of the items that are wanted (`org.id3/TIT2`); groups of which
    ///     nothing is left do not come. nil (the default) wants all.
    ///   - advanceInterval: how much earlier than their time, in seconds of the item, groups are delivered. Default:
    ///     none. Negative ones count as none.
    public init(identifiers: Set<String>? = nil, advanceInterval: Duration = .zero) {
        self.identifiers = identifiers
        self.advanceInterval = max(.zero, advanceInterval)
    }

    /// The groups, in order. Ends when the output is taken from its item, and when the item fails or
    /// is played no longer.
    public func groups() -> AsyncStream<TimedMetadataGroup> { binding.subscribe(to: sequence) }
}

extension MetadataOutput: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package func receive(_ group: TimedMetadataGroup) {
        guard let start = group.timeRange.start.duration else { return }
        var group = group
        if let identifiers {
            let items = group.items.filter { identifiers.contains($0.identifier) }
            guard !items.isEmpty else { return }
            group = group.filtered(items)
        }
        state.withLock { state in
            let index = state.groups.lastIndex { $0.start <= start }.map { $0 + 1 } ?? 0
            state.groups.insert((start, group), at: index)
            if state.groups.count > Self.maximumGroupCount { state.groups.removeFirst() }
        }
    }

    package var nextDelivery: Duration? { state.withLock { $0.groups.first.map { $0.start - advanceInterval } } }

    package func deliver(upTo time: Duration, at clock: OutputClock) {
        let due = state.withLock { state in
            let count = state.groups.firstIndex { $0.start - advanceInterval > time } ?? state.groups.count
            defer { state.groups.removeFirst(count) }
            return state.groups.prefix(count).map(\.group)
        }
        for group in due { sequence.send(group) }
    }

    package func flush(generation: Int) {
        state.withLock { $0.groups = [] }
    }

    /// Nothing to do: a seek may bring more.
    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        state.withLock { $0.groups = [] }
        sequence.finish()
    }
}

extension MetadataOutput {
    /// What the player calls.
    private final class Intake: MetadataReceiver, TimedOutput {
        let output: MetadataOutput
        var binding: OutputBinding { output.binding }

        init(output: MetadataOutput) { self.output = output }

        func receive(_ group: TimedMetadataGroup) { output.receive(group) }
        var nextDelivery: Duration? { output.nextDelivery }
        func deliver(upTo time: Duration, at clock: OutputClock) { output.deliver(upTo: time, at: clock) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
