public import HLSKitTime

/// A stretch of an integrated timeline: of the item, or of an event.
///
/// The semantics are those of `AVPlayerItemSegment`.
public struct IntegratedTimelineSegment: Sendable, Hashable {
    /// What plays in it.
    public enum Content: Sendable, Hashable {
        /// The item.
        case primary
        /// Of an event what is played of it.
        case interstitial(InterstitialEvent)
    }

    /// What plays in it.
    public package(set) var content: Content
    /// Where it begins on the integrated timeline, and how long it is there: 0 for an event at a single point.
    package var start: Duration
    package var duration: Duration
    /// Where it begins in what plays: an item time, or an offset into the event.
    package var sourceStart: Duration
    /// How long it plays; nil while that is not known.
    package var sourceDuration: Duration?
    /// The item times that an event takes the place of; empty where it is inserted. nil for the item itself.
    package var replaced: Range<Duration>?

    /// From item times, or offsets into the event, to times of the integrated timeline.
    public var timeMapping: MediaTimeMapping {
        MediaTimeMapping(
            source: MediaTimeRange(
                start: MediaTime(sourceStart), duration: sourceDuration.map { MediaTime($0) } ?? .indefinite),
            target: MediaTimeRange(start: MediaTime(start), duration: MediaTime(duration)))
    }

    /// Where it is on the integrated timeline; of no duration for an event at a single point.
    public var timeRange: MediaTimeRange {
        MediaTimeRange(start: MediaTime(start), duration: MediaTime(duration))
    }

    package var end: Duration { start + duration }

    /// The event that plays; nil for the item.
    public var event: InterstitialEvent? { if case .interstitial(let event) = content { event } else { nil } }

    /// The time on the integrated timeline of an offset into the segment: at a single point that of the point.
    package func time(offset: Duration) -> Duration { start + min(max(.zero, offset), duration) }

    /// How far a time of the integrated timeline is into the segment.
    package func offset(at time: Duration) -> Duration { min(max(.zero, time - start), duration) }

    /// What offsets into the segment are in what plays. Those outside of it are left out.
    package func sourceTimes(of offsets: [Duration]) -> [Duration] {
        offsets.filter { offset in offset >= .zero && sourceDuration.map { offset <= $0 } ?? true }
            .map { sourceStart + $0 }
    }
}
