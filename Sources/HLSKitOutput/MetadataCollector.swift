import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// An output that collects the `EXT-X-DATERANGE`s of the current playlist whenever they change.
///
/// ```swift
/// let collector = MetadataCollector(classifyingLabels: ["com.example.ad"])
/// try item.add(collector)
/// for await update in collector.updates() { schedule(update.newGroups) }
/// ```
///
/// Date ranges are known ahead of time, so they are not delivered by the timebase. Each update contains all of them. A
/// reader that falls behind by 16 updates loses only the changes in the oldest.
public final class MetadataCollector: PlayerItemOutput {
    /// The date ranges of the playlist, and their changes since the previous update.
    public struct Update: Sendable, Hashable {
        /// All date ranges, in the order of the playlist.
        public let groups: [DateRangeMetadataGroup]
        /// The indexes of the new date ranges in ``groups``.
        public let indexesOfNewGroups: [Int]
        /// The indexes in ``groups`` of the date ranges that have changed.
        public let indexesOfModifiedGroups: [Int]
        /// The date ranges that are no longer in the playlist, with their last contents.
        public let removedGroups: [DateRangeMetadataGroup]

        /// The new date ranges.
        public var newGroups: [DateRangeMetadataGroup] { indexesOfNewGroups.map { groups[$0] } }
        /// The changed date ranges, with their current contents.
        public var modifiedGroups: [DateRangeMetadataGroup] { indexesOfModifiedGroups.map { groups[$0] } }

        init?(_ groups: [DateRangeMetadataGroup], since old: [DateRangeMetadataGroup]) {
            guard groups != old else { return nil }
            self.groups = groups
            let known = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
            indexesOfNewGroups = groups.indices.filter { known[groups[$0].id] == nil }
            indexesOfModifiedGroups = groups.indices.filter { index in
                known[groups[index].id].map { $0 != groups[index] } ?? false
            }
            let ids = Set(groups.map(\.id))
            removedGroups = old.filter { !ids.contains($0.id) }
        }
    }

    package static let maximumUpdateCount = 16

    /// The identifiers of which a range must have one, or `nil` to accept all ranges.
    public let identifiers: Set<String>?
    /// The classes of accepted ranges, or `nil` to accept all classes.
    public let classifyingLabels: Set<String>?
    private let collected = Mutex<[DateRangeMetadataGroup]>([])
    private let sequence = Broadcast<Update>(.bufferingNewest(maximumUpdateCount))
    public let binding = OutputBinding()

    /// Creates a collector.
    ///
    /// - Parameters:
    ///   - identifiers: The ``MetadataItem/identifier``s of which a range must have one. The default, `nil`, accepts
    ///     all ranges.
    ///   - classifyingLabels: The values of `CLASS` of which a range must have one. The default, `nil`, accepts all
    ///     ranges.
    public init(identifiers: Set<String>? = nil, classifyingLabels: Set<String>? = nil) {
        self.identifiers = identifiers
        self.classifyingLabels = classifyingLabels
    }

    /// The date ranges of the last loaded playlist, in its order.
    public var groups: [DateRangeMetadataGroup] { collected.withLock { $0 } }

    /// Returns a sequence of the changes from now on.
    ///
    /// The sequence ends when the collector is removed from its item, when the item fails and when it is no longer
    /// played.
    public func updates() -> AsyncStream<Update> { binding.subscribe(to: sequence) }
}

extension MetadataCollector: IntakeOutput {
    var intake: any OutputReceiver { Intake(output: self) }

    package func receive(_ dateRanges: [DateRangeMetadataGroup]) {
        let wanted = dateRanges.filter { group in
            if let classifyingLabels, !classifyingLabels.contains(group.classifyingLabel ?? "") { return false }
            guard let identifiers else { return true }
            return group.items.contains { identifiers.contains($0.identifier) }
        }
        let update = collected.withLock { collected in
            defer { collected = wanted }
            return Update(wanted, since: collected)
        }
        if let update { sequence.send(update) }
    }

    /// Does nothing, because date ranges are known ahead of time.
    package func flush(generation: Int) {}

    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        collected.withLock { $0 = [] }
        sequence.finish()
    }
}

extension MetadataCollector {
    private final class Intake: DateRangeReceiver {
        let output: MetadataCollector
        var binding: OutputBinding { output.binding }

        init(output: MetadataCollector) { self.output = output }

        func receive(_ dateRanges: [DateRangeMetadataGroup]) { output.receive(dateRanges) }
        func flush(generation: Int) { output.flush(generation: generation) }
        func finish(_ type: MediaKind, at clock: OutputClock) { output.finish(type, at: clock) }
        func end() { output.end() }
    }
}
