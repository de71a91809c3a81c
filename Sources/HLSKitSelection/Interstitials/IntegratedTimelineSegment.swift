public import HLSKitTime

/// A segment of an integrated timeline, which plays either the item or an event.
///
/// The semantics follow `AVPlayerItemSegment`.
public struct IntegratedTimelineSegment: Sendable, Hashable {
    /// The content of a segment.
    public enum Content: Sendable, Hashable {
        /// Media of the item.
        case primary
        /// The played part of an event.
        case interstitial(InterstitialEvent)
    }

    /// The content of the segment.
    public package(set) var content: Content
    /// The start and the duration on the integrated timeline. An event at a single point has the duration 0.
    package var start: Duration
    package var duration: Duration
    /// The start in the content: an item time, or an offset into the event.
    package var sourceStart: Duration
    package var sourceDuration: Duration?
    /// The item times that an event replaces, empty for an inserted event, or nil for the item itself.
    package var replaced: Range<Duration>?

    /// A mapping from item times, or offsets into the event, to times of the integrated timeline.
    public var timeMapping: MediaTimeMapping {
        MediaTimeMapping(
            source: MediaTimeRange(
                start: MediaTime(sourceStart), duration: sourceDuration.map { MediaTime($0) } ?? .indefinite),
            target: MediaTimeRange(start: MediaTime(start), duration: MediaTime(duration)))
    }

    /// The time range on the integrated timeline, with the duration 0 for an event at a single point.
    public var timeRange: MediaTimeRange {
        MediaTimeRange(start: MediaTime(start), duration: MediaTime(duration))
    }

    package var end: Duration { start + duration }

    /// The event that plays, or `nil` for the item.
    public var event: InterstitialEvent? { if case .interstitial(let event) = content { event } else { nil } }

    /// Returns the time on the integrated timeline of an offset into the segment. For a single point, this is always
    /// the point.
    package func time(offset: Duration) -> Duration { start + min(max(.zero, offset), duration) }

    package func offset(at time: Duration) -> Duration { min(max(.zero, time - start), duration) }

    /// Converts offsets into the segment to times in its content, and omits those outside the segment.
    package func sourceTimes(of offsets: [Duration]) -> [Duration] {
        offsets.filter { offset in offset >= .zero && sourceDuration.map { offset <= $0 } ?? true }
            .map { sourceStart + $0 }
    }
}
