public import HLSKitTime

/// The timeline of an item and its events in the order in which they are expected to play.
///
/// Unknown durations count as 0. For a live stream, the snapshot covers the listed media. The semantics follow
/// `AVPlayerItemIntegratedTimelineSnapshot`.
public struct IntegratedTimelineSnapshot: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        /// An item time.
        case primary(Duration)
        /// An offset into the event with this ID.
        case interstitial(String, Duration)
    }

    /// The segments in order, without gaps.
    ///
    /// The segment of an event may have a duration of 0.
    public private(set) var segments: [IntegratedTimelineSegment] = []
    package private(set) var position = Duration.zero

    package init() {}

    /// The duration of the whole timeline, as far as it is known.
    public var duration: MediaTime { MediaTime(length) }

    /// The position of the player on the timeline, or 0 for an item that is not playing.
    public var currentTime: MediaTime { MediaTime(position) }

    /// The segment that was playing, or `nil` for a timeline without segments.
    public private(set) var currentSegment: IntegratedTimelineSegment?

    package var length: Duration { segments.last.map { $0.end - (segments.first?.start ?? .zero) } ?? .zero }

    mutating func append(_ segment: IntegratedTimelineSegment) {
        var segment = segment
        segment.start = segments.last?.end ?? .zero
        segments.append(segment)
    }

    /// Sets the position of the player.
    ///
    /// - Parameters:
    ///   - place: The content that plays.
    ///   - earliest: The earliest time on the timeline to consider if an item time occurs several times.
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

    package func end(of ids: Set<String>) -> Duration {
        segments.last { $0.event.map { ids.contains($0.id) } == true }?.end ?? .zero
    }

    // MARK: Times

    /// Returns the segment at a time of the timeline, and the offset of the time in it.
    ///
    /// A time before the start or after the end is moved to it. If several events share one point, the method returns
    /// the first. The result is `nil` for a timeline without segments.
    public func segmentAndOffset(
        forTimelineTime time: MediaTime
    ) -> (segment: IntegratedTimelineSegment, offset: MediaTime)? {
        let wanted = time.duration ?? (time.isNegativeInfinity ? .zero : length)
        return segment(at: wanted).map { ($0.segment, MediaTime($0.offset)) }
    }

    /// Returns the segment at a time and the offset of the time in it, or nil for a timeline without segments. A time
    /// before the start or after the end is moved to it.
    package func segment(at time: Duration) -> (segment: IntegratedTimelineSegment, offset: Duration)? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end < time { low = middle + 1 } else { high = middle }
        }
        // At a boundary, prefer the segment that starts there, and the first of several points.
        while low < segments.count - 1, segments[low].duration > .zero, segments[low].end <= time { low += 1 }
        guard let segment = low < segments.count ? segments[low] : segments.last else { return nil }
        return (segment, segment.offset(at: time))
    }

    package func place(at time: Duration) -> Place? {
        segment(at: time).map { segment, offset in
            let source = segment.sourceStart + offset
            return segment.event.map { .interstitial($0.id, source) } ?? .primary(source)
        }
    }

    /// Returns the first timeline position of an item time from `earliest` on, or nil if the time is outside the item.
    /// An item time that an event replaces maps into the event.
    package func time(ofPrimary time: Duration, from earliest: Duration = .zero) -> Duration? {
        var last: Duration?
        for segment in segments {
            if let replaced = segment.replaced {
                guard replaced.contains(time) else { continue }
                last = segment.time(offset: time - replaced.lowerBound - segment.omitted)
            } else if segment.sourceStart <= time, time - segment.sourceStart <= segment.duration {
                last = segment.time(offset: time - segment.sourceStart)
            } else {
                continue
            }
            if let last, last >= earliest { return last }
        }
        return last
    }

    package func time(ofEvent id: String, offset: Duration) -> Duration? {
        segments.first { $0.event?.id == id }.map { $0.time(offset: offset - $0.sourceStart) }
    }

    // MARK: Boundaries

    /// Returns the timeline positions of offsets into a segment, in order, for boundary observers. Offsets past its end
    /// are omitted.
    package func boundaries(of segment: IntegratedTimelineSegment, offsets: [Duration]) -> [Duration] {
        guard segments.contains(segment) else { return [] }
        return offsets.filter { $0 >= .zero && $0 <= segment.duration }.sorted().map { segment.start + $0 }
    }
}

extension IntegratedTimelineSegment {
    /// The part of an event that had passed when the event was begun.
    fileprivate var omitted: Duration { event == nil ? .zero : sourceStart }
}

extension InterstitialSchedule {
    /// Returns the timeline of the item and its events.
    ///
    /// - Parameter running: The break that is playing.
    ///
    /// - Complexity: Linear in the number of events, except for overlapping events.
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
        // Use the actual resumption time, which alignment or the end of the item may have moved.
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
