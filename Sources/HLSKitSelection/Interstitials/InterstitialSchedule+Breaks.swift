import HLSKitLoading
import HLSKitTime

package enum InterstitialSeekVerdict: Sendable {
    /// The seek is allowed. After it, call ``InterstitialSchedule/arrive(at:)`` with the resulting position.
    case free
    /// A break plays first. The playhead may stay at its position until the break ends.
    case first(InterstitialBreak)
}

package enum InterstitialContinuation: Sendable {
    /// The item continues at this item time.
    case primary(at: Duration)
    /// Another break follows: at the resumption time, or because a seek must not skip it.
    case another(InterstitialBreak)
    /// The item continues after a skipped range that a live stream has not reached yet. Ask again after each reload.
    case later
    /// The item has ended.
    case end
}

extension InterstitialSchedule {
    /// Handles a seek of the user. Events that have played may play again, except those that play only once.
    ///
    /// A change of the playback direction counts as a seek to the current position.
    package mutating func seek(from time: Duration, to target: Duration) -> InterstitialSeekVerdict {
        forgetPlayed()
        return restricted(from: time, to: target).map { .first($0) } ?? .free
    }

    /// Returns the first break between two times that a seek must not skip.
    private mutating func restricted(from time: Duration, to target: Duration) -> InterstitialBreak? {
        guard target > time else { return nil }
        for stop in stops[firstStop(after: time)...] {
            guard stop.time < target else { return nil }
            guard stop.events.contains(where: { isDue($0) && $0.isJumpRestricted }) else { continue }
            return makeBreak(of: stop, kind: .inside, offset: .zero, at: stop.time, target: target)
        }
        return nil
    }

    package mutating func enter(_ id: String, at offset: Duration) -> InterstitialBreak? {
        let places: [(stop: Stop, kind: InterstitialBreak.Kind)] =
            [(Stop(time: primary.start, events: joining), .join)] + stops.map { ($0, .inside) }
            + [(Stop(time: primary.end, events: leaving), .leave)]
        for (stop, kind) in places {
            guard let index = stop.events.firstIndex(where: { $0.id == id }) else { continue }
            forgetPlayed()
            let rest = stop.events[index...].filter { $0.id == id || isPlayable($0) }
            begin(stop.events)
            return InterstitialBreak(
                place: stop.time, kind: kind, events: rest,
                passed: stop.events[..<index].reduce(.zero) { $0 + self.offset(of: $1) },
                startOffset: max(.zero, offset), arrival: stop.time)
        }
        return nil
    }

    package mutating func refresh(_ running: inout InterstitialBreak) {
        let known: [InterstitialEvent]
        switch running.kind {
        case .join: known = joining
        case .leave: known = stops.filter { $0.time >= running.place - Self.closeness }.flatMap(\.events) + leaving
        case .inside: known = stops.filter { abs($0.time - running.place) <= Self.closeness }.flatMap(\.events)
        }
        let more = running.wasEnteredLate ? [] : known.filter(isDue)
        begin(more)
        running.update(events, adding: more)
    }

    /// Finishes a break.
    ///
    /// - Parameters:
    ///   - waited: The host time spent waiting during the break while the player was to play, in addition to the played
    ///     time.
    ///   - latest: The last item time at which a live stream may play now, or nil for its edge.
    package mutating func finish(
        _ over: InterstitialBreak, waited: Duration = .zero, latest: Duration? = nil
    ) -> InterstitialContinuation {
        if over.kind == .leave { return .end }
        let wanted = resumption(over, waited: waited, latest: latest)
        // If only the interstitials of the item are played, no event replaces another.
        var time = max(primary.start, skipped.keepsEvents ? over.place : wanted)
        if let target = over.target, target > time {
            if let next = restricted(from: over.place, to: target) { return .another(next) }
            time = target
        }
        // The live window may have moved past this position during the break.
        let left = primary.isLive ? min(time, wanted) : time
        if let entry = skipped.entry(at: left) ?? skipped.entry(at: time) {
            // Events at the start of a skipped range are played.
            if primary.isLive || time < primary.end, let found = eventBreak(at: time) { return .another(found) }
            guard let end = skip(entry, from: left, latest: max(latest ?? primary.end, over.place)) else {
                return .later
            }
            time = max(primary.start, end)
        }
        if !primary.isLive, time >= primary.end { return end().map { .another($0) } ?? .end }
        // Events that begin within two frames begin at once.
        let following = firstStop(after: time)
        if following < stops.count, stops[following].time - time <= Self.closeness,
            stops[following].events.contains(where: isDue)
        {
            time = stops[following].time
        }
        return arrive(at: time).map { .another($0) } ?? .primary(at: time)
    }

    /// Skips a range that contains a time.
    ///
    /// - Returns: The end of the range, or nil if a live stream has not reached it.
    private mutating func skip(_ entry: SkippedRanges.Entry, from time: Duration, latest: Duration) -> Duration? {
        var end = entry.range.upperBound
        if skipped.keepsEvents, let stop = nextStop(after: time) { end = min(end, stop.time) }
        if primary.isLive, end > latest { return nil }
        end = max(primary.isLive ? primary.start : time, primary.isLive ? end : min(end, primary.end))
        if !skipped.keepsEvents {
            note(
                SkippedContent(
                    timeRange: MediaTimeRange(start: MediaTime(time), duration: MediaTime(max(.zero, end - time))),
                    dateRangeIDs: entry.dateRangeIDs, numberOfSegments: entry.segmentCount))
        }
        return max(end, time)
    }

    /// Returns the item time at which the item continues. The window of a live stream may begin later.
    private func resumption(_ over: InterstitialBreak, waited: Duration, latest: Duration?) -> Duration {
        let offset = over.resumptionOffset
        var time = over.place + offset
        if over.kind == .join, !primary.isLive {
            // A pre-roll replaces the beginning of the item, even if playback starts elsewhere.
            time = max(over.place, primary.start + offset)
        }
        if primary.isLive, !over.hasFixedOffset, over.played > .zero, waited > Self.tolerableWait { time += waited }
        if over.wasEnteredLate { time = max(time, over.arrival) }
        if over.alignsResumption { time = primary.snappedIn(time) }
        if primary.isLive { time = min(time, max(latest ?? primary.end, over.place)) }
        return primary.isLive ? time : max(primary.start, min(time, primary.end))
    }
}

extension InterstitialEvent {
    fileprivate var isJumpRestricted: Bool { restrictions.contains(.constrainsSeekingForwardInPrimaryContent) }
}
