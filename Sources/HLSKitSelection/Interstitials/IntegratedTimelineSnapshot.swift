public import HLSKitTime

/// The timeline of an item with its events, as they are expected to play: everything that playing from the start to the end
/// comes through.
///
/// Lengths that are not known yet count nothing; of a live stream it is what is listed. The semantics are those of
/// `AVPlayerItemIntegratedTimelineSnapshot`. See docs/behaviour/interstitials.md.
public struct IntegratedTimelineSnapshot: Sendable, Hashable {
    /// What is at a time of the timeline.
    package enum Place: Sendable, Hashable {
        /// An item time.
        case primary(Duration)
        /// An offset into the event with this ID.
        case interstitial(String, Duration)
    }

    /// One behind the other, without room between them. An event may have none for itself.
    public private(set) var segments: [IntegratedTimelineSegment] = []
    /// Where the player is on it.
    package private(set) var position = Duration.zero

    package init() {}

    /// How long it all is, as far as that is known.
    public var duration: MediaTime { MediaTime(length) }

    /// Where the player was on it; 0 for an item that is not played.
    public var currentTime: MediaTime { MediaTime(position) }

    /// The segment that played; nil for a timeline without segments.
    public private(set) var currentSegment: IntegratedTimelineSegment?

    /// How long it all is.
    package var length: Duration { segments.last.map { $0.end - (segments.first?.start ?? .zero) } ?? .zero }

    /// Puts a segment behind the others.
    mutating func append(_ segment: IntegratedTimelineSegment) {
        var segment = segment
        segment.start = segments.last?.end ?? .zero
        segments.append(segment)
    }

    /// The player is there.
    ///
    /// - Parameters:
    ///   - place: what plays.
    ///   - earliest: where an item time is on the timeline several times, it is behind this.
    package mutating func setCurrent(_ place: Place, from earliest: Duration = .zero) {
        switch place {
        case .primary(let time):
            position = self.time(ofPrimary: time, from: earliest) ?? .zero
            currentSegment =
                segments.last { $0.event == nil && $0.start <= position && position <= $0.end }
                ?? segment(at: position)?.segment
        case .interstitial(let id, let offset):
            position = self.time(ofEvent: id, offset: offset) ?? position
            currentSegment = segments.first { $0.event?.id == id } ?? segment(at: position)?.segment
        }
    }

    /// Where what was played already ends: events with these IDs.
    package func end(of ids: Set<String>) -> Duration {
        segments.last { $0.event.map { ids.contains($0.id) } == true }?.end ?? .zero
    }

    // MARK: Times

    /// The segment at a time of the timeline, and how far the time is into it. Times before the start and behind the end are
    /// those; of several events at one point the first is meant. nil for a timeline without segments.
    public func segmentAndOffset(
        forTimelineTime time: MediaTime
    ) -> (segment: IntegratedTimelineSegment, offset: MediaTime)? {
        let wanted = time.duration ?? (time.isNegativeInfinity ? .zero : length)
        return segment(at: wanted).map { ($0.segment, MediaTime($0.offset)) }
    }

    /// The segment at a time, and how far the time is into it. A point is there where it is; times before the start and behind
    /// the end are those. nil for a timeline without segments.
    package func segment(at time: Duration) -> (segment: IntegratedTimelineSegment, offset: Duration)? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end < time { low = middle + 1 } else { high = middle }
        }
        // The end of one is the start of the next, which is meant, and of several points the first.
        while low < segments.count - 1, segments[low].duration > .zero, segments[low].end <= time { low += 1 }
        guard let segment = low < segments.count ? segments[low] : segments.last else { return nil }
        return (segment, segment.offset(at: time))
    }

    /// What is at a time; nil for a timeline without segments.
    package func place(at time: Duration) -> Place? {
        segment(at: time).map { segment, offset in
            let source = segment.sourceStart + offset
            return segment.event.map { .interstitial($0.id, source) } ?? .primary(source)
        }
    }

    /// The time at which an item time is played; where that is several times, the first of them from `earliest` on. One in whose
    /// place an event is played is where the event is. nil outside of the item.
    package func time(ofPrimary time: Duration, from earliest: Duration = .zero) -> Duration? {
        var last: Duration?
        for segment in segments {
            if let replaced = segment.replaced {
                guard replaced.contains(time) else { continue }
                last = segment.time(offset: time - replaced.lowerBound - segment.leftOut)
            } else if segment.sourceStart <= time, time - segment.sourceStart <= segment.duration {
                last = segment.time(offset: time - segment.sourceStart)
            } else {
                continue
            }
            if let last, last >= earliest { return last }
        }
        return last
    }

    /// The time of an offset into an event; nil where it is not played.
    package func time(ofEvent id: String, offset: Duration) -> Duration? {
        segments.first { $0.event?.id == id }.map { $0.time(offset: offset - $0.sourceStart) }
    }

    // MARK: Boundaries

    /// The times of offsets into a segment, in order, those behind its end left out: where somebody is told that wants to know
    /// of them.
    package func boundaries(of segment: IntegratedTimelineSegment, offsets: [Duration]) -> [Duration] {
        guard segments.contains(segment) else { return [] }
        return offsets.filter { $0 >= .zero && $0 <= segment.duration }.sorted().map { segment.start + $0 }
    }
}

extension IntegratedTimelineSegment {
    /// What of an event was over when it was begun.
    fileprivate var leftOut: Duration { event == nil ? .zero : sourceStart }
}

extension InterstitialSchedule {
    /// The timeline of the item and its events.
    ///
    /// - Parameter running: the break that plays.
    /// - Complexity: linear in the number of events, but for those that overlap.
    package func timeline(running: InterstitialBreak? = nil) -> IntegratedTimelineSnapshot {
        var copy = self
        copy.rehearse(running)
        var timeline = IntegratedTimelineSnapshot()
        var time = primary.start
        var next = primary.isLive && hasStarted ? copy.arrive(at: time) : copy.start(at: time)
        while true {
            if let planned = next {
                switch copy.play(planned, on: &timeline) {
                case .primary(let resumption): (time, next) = (resumption, nil)
                case .another(let other): next = other
                case .later, .end: return timeline
                }
            } else {
                let stop = copy.next(after: time).flatMap { $0 <= primary.end ? $0 : nil }
                let length = (stop ?? primary.end) - time
                if length > .zero {
                    timeline.append(
                        IntegratedTimelineSegment(
                            content: .primary, start: .zero, duration: length, sourceStart: time,
                            sourceDuration: length, replaced: nil))
                }
                time = stop ?? primary.end
                next = stop != nil ? copy.arrive(at: time) : primary.isLive ? nil : copy.end()
                if stop == nil, next == nil { return timeline }
            }
        }
    }

    /// Puts a break on a timeline as it is planned, and tells what follows.
    private mutating func play(
        _ planned: InterstitialBreak, on timeline: inout IntegratedTimelineSnapshot
    ) -> InterstitialContinuation {
        var over = planned
        var segments: [IntegratedTimelineSegment] = []
        while let event = over.current {
            let start = over.startOffset
            let begin = max(planned.place + over.resumptionOffset, planned.place)
            let length = event.length(lengths[event.id])
            over.playAsPlanned(length)
            let left = max(.zero, (length ?? .zero) - start)
            segments.append(
                IntegratedTimelineSegment(
                    content: .interstitial(event), start: .zero,
                    duration: event.timelineOccupancy == .fill ? left : .zero, sourceStart: start,
                    sourceDuration: length == nil ? nil : left,
                    replaced:
                        begin..<(planned.kind == .leave ? begin : max(begin, planned.place + over.resumptionOffset))))
        }
        let follows = finish(over)
        // Where the item really continues: what is aligned moves, and so does what passes the end.
        if let last = segments.last?.replaced, planned.kind == .inside {
            let end: Duration? =
                switch follows {
                case .primary(let time): time
                case .another(let other): other.arrival
                case .later, .end: primary.end
                }
            if let end { segments[segments.count - 1].replaced = last.lowerBound..<max(last.lowerBound, end) }
        }
        for segment in segments { timeline.append(segment) }
        return follows
    }
}
