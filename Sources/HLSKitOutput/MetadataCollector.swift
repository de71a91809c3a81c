import HLSKitLoading
package import HLSKitMedia
public import HLSKitSelection
import HLSKitTime
import Synchronization

/// Collects the `EXT-X-DATERANGE`s of the playlist that is played, whenever one is loaded that changes them.
///
/// ```swift
/// let collector = MetadataCollector(classifyingLabels: ["com.example.ad"])
/// try item.add(collector)
/// for await update in collector.updates() { schedule(update.newGroups) }
/// ```
///
/// They are known ahead of their time, and are not delivered by the timebase. Each update holds all of them, so that a
/// reader that falls behind by 16 updates loses only what changed in the oldest.
public final class MetadataCollector: PlayerItemOutput {
    /// The date ranges of the playlist, and what is different from before.
    public struct Update: Sendable, Hashable {
        /// All, in the order of the playlist.
        public let groups: [DateRangeMetadataGroup]
        /// Places in ``groups``.
        public let indexesOfNewGroups: [Int]
        /// Places in ``groups`` of those that were there before, with other contents.
        public let indexesOfModifiedGroups: [Int]
        /// Those that the playlist has no longer, as they were.
        public let removedGroups: [DateRangeMetadataGroup]

        /// The groups that were not there before.
        public var newGroups: [DateRangeMetadataGroup] { indexesOfNewGroups.map { groups[$0] } }
        /// The groups that were there before, as they are now.
        public var modifiedGroups: [DateRangeMetadataGroup] { indexesOfModifiedGroups.map { groups[$0] } }

        /// What is different in `groups` from `old`; nil where nothing is.
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

    /// Updates that wait for a reader of ``updates()``.
    package static let maximumUpdateCount = 16

    /// Ranges without an item of these identifiers are left out; nil takes all.
    public let identifiers: Set<String>?
    /// Ranges of other classes are left out; nil takes all.
    public let classifyingLabels: Set<String>?
    private let collected = Mutex<[DateRangeMetadataGroup]>([])
    private let sequence = Broadcast<Update>(.bufferingNewest(maximumUpdateCount))
    public let binding = OutputBinding()

    /// - Parameters:
    ///   - identifiers: ``MetadataItem/identifier``s, of which a range must have one; nil (the default) takes all.
    ///   - classifyingLabels: values of `CLASS`, of which a range must have one; nil (the default) takes all.
    public init(identifiers: Set<String>? = nil, classifyingLabels: Set<String>? = nil) {
        self.identifiers = identifiers
        self.classifyingLabels = classifyingLabels
    }

    /// The date ranges of the playlist that was loaded last, in its order.
    public var groups: [DateRangeMetadataGroup] { collected.withLock { $0 } }

    /// The changes from now on. Ends when the collector is taken from its item, and when the item
    /// fails or is played no longer.
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

    /// Nothing to do: date ranges are known ahead of time.
    package func flush(generation: Int) {}

    /// Nothing to do: a seek may bring more.
    package func finish(_ type: MediaKind, at clock: OutputClock) {}

    package func end() {
        collected.withLock { $0 = [] }
        sequence.finish()
    }
}

extension MetadataCollector {
    /// What the player calls.
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
