import HLSPlaylist

/// Where time is.
extension PlaybackEngine {
    var timebase: TimebaseState { clock.timebase }

    /// The item time that is being presented.
    var playhead: Duration { playhead(at: now) }

    /// The same at a time that is not before the last event.
    func playhead(at now: Duration) -> Duration {
        guard item != nil else { return .zero }
        switch configuration.pacing {
        case .unpaced: return clock.presentedUpTo ?? item?.start ?? .zero
        case .realTime:
            let time = timebase.itemTime(at: now)
            if let time = trickPlayhead(time) { return time }
            return lastTime.map { min(time, $0) } ?? time
        }
    }

    /// Where playing ends; nil while that is not known.
    var effectiveEnd: Duration? { outlook?.effectiveEnd }
    /// What time does not pass: the end, or what it had come to when the end came nearer.
    var lastTime: Duration? { clock.lastTime(before: effectiveEnd) }
    /// Media time that was played: what was jumped over or lost is left out.
    var watchedDuration: Duration { clock.watched(upTo: playhead) }
    /// As ``watchedDuration``, at a time that is not before the last event.
    func watchedDuration(at now: Duration) -> Duration { clock.watched(upTo: playhead(at: max(now, self.now))) }

    /// Where the playhead is when time stands or is about to come to the end.
    var timeAtEnd: Duration? {
        guard configuration.pacing == .realTime, item != nil else { return nil }
        if timebase.rate == 0 { return playhead }
        guard timebase.rate > 0, let end = lastTime, timebase.itemTime(at: now) + .seconds(1) > end else { return nil }
        return playhead
    }

    mutating func setTimebase(rate: Double) {
        setTimebase(TimebaseState(itemTime: playhead, hostTime: now, rate: rate))
    }

    /// - Parameters:
    ///   - jump: where the playhead is from now on, if it does not go on from where it is.
    ///   - start: the item time from which on what is played counts as watched; nil for the playhead.
    mutating func setTimebase(_ new: TimebaseState, jump: Duration? = nil, watchedFrom start: Duration? = nil) {
        clock.set(new, playhead: playhead, jump: jump)
        effects.append(.setTimebase(new))
        clock.watch(from: start ?? playhead)
    }

    // MARK: Stops

    /// While a live stream is played, something happens more often than this.
    private static let longestSilence = Duration.seconds(5)

    /// A process was stopped, or a machine slept: time does not go on beyond the media that there was while nobody was
    /// awake to stop it there. What comes next would be waited for as long as the stop was. Called with the time of an
    /// event, before that is handled.
    mutating func holdTime(until time: Duration) {
        guard time - now > Self.longestSilence, configuration.pacing == .realTime, timebase.rate > 0,
            item?.isLive == true, item?.trick == nil
        else { return }
        let before = playhead
        let loaded = buffer.loadedTimeRanges().last { $0.lowerBound <= before }
        let end = max(before, loaded?.upperBound ?? before)
        guard timebase.itemTime(at: time) > end else { return }
        setTimebase(TimebaseState(itemTime: end, hostTime: time, rate: timebase.rate), watchedFrom: before)
    }

    // MARK: Next moment

    /// The next moment at which time alone changes something; nil where it never does.
    var nextMoment: Duration? {
        if item?.trick != nil { return nextTrickMoment }
        guard timebase.rate > 0, configuration.pacing == .realTime, let outlook else { return nil }
        let soon = now + .milliseconds(1)
        var next: Duration?
        func consider(_ time: Duration) {
            let time = max(time, soon)
            next = min(next ?? time, time)
        }
        // The buffer runs empty.
        if !lastVerdict.isEmpty, !lastVerdict.holdsAllRemaining {
            let time = playhead + lastVerdict.forwardDuration - configuration.buffering.stallEpsilon
            if let time = timebase.hostTime(of: time + .microseconds(1)) { consider(time) }
        }
        // Past an end that nothing is done at, there is nothing to look for.
        if outlook.isDrained || outlook.endsEarly, !machine.isAtEnd, let end = outlook.effectiveEnd,
            let time = timebase.hostTime(of: end)
        {
            consider(time)
        }
        if let time = edgeHostTime { consider(time) }
        // A track at rest may want media again.
        if !buffer.requiredTracks.isSubset(of: tracksToLoad), !outlook.isComplete {
            consider(now + (timeUntilRoom ?? .milliseconds(250)))
        } else if let limit = outlook.maximumForwardBuffer, lastVerdict.forwardDuration > limit {
            consider(now + (lastVerdict.forwardDuration - limit) / timebase.rate)
        }
        return next
    }

    /// With a hard limit and one track: how long until the next segment fits. Called while time passes.
    private var timeUntilRoom: Duration? {
        guard let limit = configuration.buffering.forwardDurationLimit, buffer.requiredTracks == .video else {
            return nil
        }
        let excess = lastVerdict.forwardDuration + (outlook?.nextSegmentDuration ?? .zero) - limit
        return (timebase.rate == 1 ? excess : excess / timebase.rate) + .microseconds(1)
    }
}
