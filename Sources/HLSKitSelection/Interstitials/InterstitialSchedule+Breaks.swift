import HLSKitLoading
import HLSKitTime

/// What becomes of a seek of the user.
package enum InterstitialSeekVerdict: Sendable {
    /// It is made; where it has landed, ``InterstitialSchedule/arrive(at:)`` is asked.
    case free
    /// A break comes first. The playhead may stay where it is until the break is over.
    case first(InterstitialBreak)
}

/// What follows a break.
package enum InterstitialContinuation: Sendable {
    /// The item, from this item time on.
    case primary(at: Duration)
    /// Another break: one that begins where the item would continue, or that a seek over it plays first.
    case another(InterstitialBreak)
    /// The item, where what is skipped now ends: a live stream has not come so far. To be asked again with each list.
    case later
    /// The item has ended.
    case end
}

extension InterstitialSchedule {
    /// The user wants to move the playhead. Events that were played come again from now on, but for those that are played once.
    ///
    /// A change of the direction of playing counts as a seek to where the playhead is.
    package mutating func seek(from time: Duration, to target: Duration) -> InterstitialSeekVerdict {
        forgetPlayed()
        return restricted(from: time, to: target).map { .first($0) } ?? .free
    }

    /// The first break between two times that nobody may jump over.
    private mutating func restricted(from time: Duration, to target: Duration) -> InterstitialBreak? {
        guard target > time else { return nil }
        for stop in stops[firstStop(after: time)...] {
            guard stop.time < target else { return nil }
            guard stop.events.contains(where: { isDue($0) && $0.isJumpRestricted }) else { continue }
            return makeBreak(of: stop, kind: .inside, offset: .zero, at: stop.time, target: target)
        }
        return nil
    }

    /// The user wants to see an event, from an offset into it on.
    ///
    /// - Returns: nil where there is none with this ID.
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

    /// Takes what a newer playlist says of the events of a break that runs.
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

    /// A break is over.
    ///
    /// - Parameters:
    ///   - waited: host time that was lost in it while playing was wanted, beyond what was played.
    ///   - latest: the last item time at which a live stream may play now; nil for its edge.
    package mutating func finish(
        _ over: InterstitialBreak, waited: Duration = .zero, latest: Duration? = nil
    ) -> InterstitialContinuation {
        if over.kind == .leave { return .end }
        let wanted = resumption(over, waited: waited, latest: latest)
        // Where all but the events is left out, none of them takes the place of another.
        var time = max(primary.start, skipped.keepsEvents ? over.place : wanted)
        if let target = over.target, target > time {
            if let next = restricted(from: over.place, to: target) { return .another(next) }
            time = target
        }
        // A window may have gone past where the item was left, while that was waited for.
        let left = primary.isLive ? min(time, wanted) : time
        if let entry = skipped.entry(at: left) ?? skipped.entry(at: time) {
            // What begins where something is skipped is played.
            if primary.isLive || time < primary.end, let found = eventBreak(at: time) { return .another(found) }
            guard let end = skip(entry, from: left, latest: max(latest ?? primary.end, over.place)) else {
                return .later
            }
            time = max(primary.start, end)
        }
        if !primary.isLive, time >= primary.end { return end().map { .another($0) } ?? .end }
        // What begins within two frames begins at once.
        let following = firstStop(after: time)
        if following < stops.count, stops[following].time - time <= Self.closeness,
            stops[following].events.contains(where: isDue)
        {
            time = stops[following].time
        }
        return arrive(at: time).map { .another($0) } ?? .primary(at: time)
    }

    /// Leaves out what is skipped from a time on.
    ///
    /// - Returns: where that ends; nil where a live stream has not come so far.
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

    /// Where the item continues by what was played. In a live stream the window may begin later.
    private func resumption(_ over: InterstitialBreak, waited: Duration, latest: Duration?) -> Duration {
        let offset = over.resumptionOffset
        var time = over.place + offset
        if over.kind == .join, !primary.isLive {
            // What is played first takes the place of the beginning, wherever playing starts.
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
