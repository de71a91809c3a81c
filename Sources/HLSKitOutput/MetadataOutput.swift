import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// An output that delivers the timed metadata in an item's media when the timebase reaches it.
///
/// ```swift
/// let output = MetadataOutput()
/// try item.add(output)
/// for await group in output.groups() { for item in group.items { print(item.identifier) } }
/// ```
///
/// It delivers ID3 tags of transport streams, packed audio and `emsg` boxes, other `emsg` events, and the splice
/// information (SCTE 35) of transport streams. Splice information is an event with the scheme
/// `urn:scte:scte35:2013:bin`.
///
/// One group holds one tag or event. ID3 groups have an indefinite duration, until the next one. Metadata before the
/// position that is being read when you add the output is not delivered. A reader that falls behind by 1,024 groups
/// loses the oldest. The output keeps the same number of upcoming groups.
public final class MetadataOutput: PlayerItemOutput {
    private struct State {
        var groups: [(start: Duration, group: TimedMetadataGroup)] = []
    }

    package static let maximumGroupCount = 1024

    /// The identifiers of the items to deliver, or `nil` to deliver all items.
    public let identifiers: Set<String>?
    /// The item time by which groups are delivered early.
    public let advanceInterval: Duration
    private let state = Mutex(State())
    private let sequence = Broadcast<TimedMetadataGroup>(.bufferingNewest(maximumGroupCount))
    public let binding = OutputBinding()

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - identifiers: The ``MetadataItem/identifier``s of the items to deliver, such as `org.id3/TIT2`. Groups
    ///     without such an item are skipped. The default, `nil`, delivers all items.
    ///   - advanceInterval: The item time by which groups are delivered early. The default is zero. Negative values
    ///     have no effect.
    public init(identifiers: Set<String>? = nil, advanceInterval: Duration = .zero) {
        self.identifiers = identifiers
        self.advanceInterval = max(.zero, advanceInterval)
    }

    /// Returns a sequence of the groups, in order.
    ///
    /// The sequence ends when the output is removed from its item, when the item fails and when it is no longer played.
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

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        state.withLock { $0.groups = [] }
        sequence.finish()
    }
}

extension MetadataOutput {
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
