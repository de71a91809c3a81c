import HLSPlaylist

/// Moving the playhead.
///
/// See docs/behaviour/seeking.md.
extension PlaybackEngine {
    /// Presented media is kept, so that it can be presented again.
    var keepsPresented: Bool {
        configuration.pacing == .realTime && configuration.buffering.backDuration > .zero
    }

    /// Moves the playhead. Before an item has a place to start at, the target becomes that place.
    ///
    /// - Parameter reloads: what is loaded is of no use.
    mutating func seek(_ request: SeekRequest, reloads: Bool = false) {
        guard let item, item.error == nil, item.pendingFailure == nil else {
            effects.append(.seekRefused)
            return
        }
        guard let tracker = item.mainTracker ?? item.previousTracker, item.start != nil else {
            endSeek(finished: false)
            self.item?.seek.begin(request, to: .zero)
            run(.seekAccepted(isTargetBuffered: false))
            return
        }
        // One that is refused leaves the one that is under way alone.
        guard let target = place(of: request.destination, in: tracker) else {
            effects.append(.seekRefused)
            return
        }
        endSeek(finished: false)
        endPreroll(finished: false)
        // Nothing is presented behind an end time that is set.
        let reloads = restoreMediaForSeek() || reloads
        let landing = landing(for: request, at: min(target, effectiveEnd ?? target), in: tracker)
        let isBuffered = !reloads && isBuffered(landing.time)
        run(.seekAccepted(isTargetBuffered: isBuffered))
        self.item?.seek.begin(request, to: landing.time)
        self.item?.stream.moveOn()
        if isBuffered { present(from: landing) } else { restartLoading(at: landing) }
        movePlayhead(to: landing)
        updateBuffer()
    }

    /// Ties item time to host time (docs/behaviour/seeking.md), at once: media at the new place is presented from what
    /// is loaded, or loaded.
    mutating func setRate(_ rate: Float, at anchor: TimeControlMachine.TimebaseAnchor) {
        let anchor = withinMedia(anchor, rate: rate)
        if item?.start != nil, item?.error == nil, !machine.automaticallyWaits, rate.isFinite {
            let moved = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
            jump(to: moved.itemTime(at: now))
        }
        let buffer = tellBufferState(rate: rate)
        run(.setRateAtHostTime(rate, anchor, buffer: buffer))
    }

    /// Before the first media and after the last there is none to present: time waits there until it leads into what there
    /// is, or stays.
    private func withinMedia(
        _ anchor: TimeControlMachine.TimebaseAnchor, rate: Float
    ) -> TimeControlMachine.TimebaseAnchor {
        let start = item?.mainTracker?.seekableStart ?? .zero
        let end = item?.mainTracker.map { max(start, effectiveEnd ?? $0.end) }
        func within(_ time: Duration) -> Duration { min(max(time, start), end ?? max(time, start)) }
        var anchor = anchor
        guard rate.isFinite, rate != 0 else {
            anchor.itemTime = within(anchor.itemTime)
            return anchor
        }
        let wait = (within(anchor.itemTime) - anchor.itemTime).seconds / Double(rate)
        if wait > 0 { anchor.hostTime += .seconds(min(wait, 1e9)) }
        anchor.itemTime = within(anchor.itemTime)
        let time = TimebaseState(itemTime: anchor.itemTime, hostTime: anchor.hostTime, rate: Double(rate))
            .itemTime(at: now)
        return time == within(time) ? anchor : .init(itemTime: within(time), hostTime: now)
    }

    private mutating func jump(to time: Duration) {
        guard abs(time - playhead) > configuration.buffering.stallEpsilon else { return }
        endSeek(finished: false)
        if isBuffered(time) { present(from: .exact(time)) } else { restartLoading(at: .exact(time)) }
        item?.seek.land(on: .exact(time))
        setTimebase(TimebaseState(itemTime: time, hostTime: now, rate: timebase.rate), jump: time)
        effects.append(.publish(.timeJumped(to: MediaTime(time))))
        updateBuffer()
    }

    mutating func cancelSeek() {
        guard item?.seek.request?.isOwn == false else { return }
        _ = item?.seek.end()
        let buffer = tellBufferState(rate: machine.rate)
        run(.seekCancelled(buffer))
        effects.append(.seekEnded(finished: false))
    }

    /// Ends a seek for which something else has come.
    mutating func endSeek(finished: Bool) {
        guard item?.seek.isUnderWay == true, let request = item?.seek.end() else { return }
        if !request.isOwn { effects.append(.seekEnded(finished: finished)) }
    }

    /// Ends the seek that is under way once there is media at its target, and the outputs have decoded it.
    mutating func checkSeek() {
        guard item?.seek.isUnderWay == true, item?.start != nil, item?.isReady == true, !lastVerdict.isEmpty
        else { return }
        if let target = item?.seek.undecidedTarget { decideLanding(near: target) }
        guard configuration.seeksAwaitOutputs, !isInGap else { return completeSeek(first: nil) }
        guard item?.seek.mayAskForTarget == true else { return }
        let number = prime()
        item?.seek.askForTarget(number)
    }

    /// Asks the outputs to tell when media at the playhead is decoded; gives the number of the question.
    mutating func prime() -> Int {
        lastPrime += 1
        effects.append(.prime(lastPrime))
        return lastPrime
    }

    mutating func notePrimed(_ number: Int, first: Duration?) {
        if number == lastPrime { noteFirstDecoded() }
        if item?.seek.isPrerollQuestion(number) == true { endPreroll(finished: true) }
        guard item?.seek.isSeekQuestion(number) == true else { return }
        completeSeek(first: first)
    }

    private mutating func completeSeek(first: Duration?) {
        // Where the playlist says that a segment begins its first picture may not be.
        if case .segmentStart(let start) = item?.seek.landing, let first, first > start {
            movePlayhead(to: .sync(first))
        }
        let time = playhead
        let isJump = item?.seek.request?.isJump ?? true
        endSeek(finished: true)
        if isJump { effects.append(.publish(.timeJumped(to: MediaTime(time)))) }
        let buffer = tellBufferState(rate: machine.rate)
        run(.seekCompleted(buffer))
    }

    // MARK: Places

    /// The item time of a destination; nil where it is outside of what can be sought in.
    private func place(of destination: SeekRequest.Destination, in tracker: PlaylistTracker) -> Duration? {
        switch destination {
        case .edge:
            guard tracker.isLive else { return effectiveEnd ?? tracker.end }
            return max(tracker.seekableStart, tracker.end - liveOffset(of: tracker))
        case .date(let date): return tracker.time(of: date)
        case .time(let time):
            guard time <= max(tracker.end, effectiveEnd ?? .zero) else { return nil }
            let start = tracker.seekableStart
            if time >= start { return time }
            // The window may have moved since the caller read where it begins.
            return tracker.isLive && start - time <= tracker.pacingTarget ? start : nil
        }
    }

    /// Where a seek lands for which an item waits that has no place to start at yet; nil without one.
    mutating func landingAtStart(_ tracker: PlaylistTracker) -> Landing? {
        guard let request = item?.seek.request else { return nil }
        var target = place(of: request.destination, in: tracker)
        if target == nil, case .time(let time) = request.destination {
            target = min(max(time, tracker.start), tracker.end)
        }
        guard let target else {
            cancelSeek()
            return nil
        }
        let landing = unbufferedLanding(for: request, at: target, in: tracker)
        item?.seek.land(on: landing)
        effects.append(.land(on: landing))
        return landing
    }

    private func landing(for request: SeekRequest, at target: Duration, in tracker: PlaylistTracker) -> Landing {
        let tolerance = request.tolerance
        // Of pictures the one is shown that is on there.
        if item?.trick != nil { return .segmentStart(target) }
        if tolerance.isZero { return .exact(target) }
        if tolerance.isUnlimited {
            // The nearest way to a picture.
            let reach = tracker.pacingTarget
            let sync = item?.syncSamples.landing(for: target) { abs($0 - target) <= reach && isBuffered($0) }
            if let sync { return .sync(sync) }
            return isBuffered(target) ? .exact(target) : unbufferedLanding(for: request, at: target, in: tracker)
        }
        guard isBuffered(target) else { return unbufferedLanding(for: request, at: target, in: tracker) }
        return bufferedLanding(at: target, tolerance)
    }

    private func bufferedLanding(at target: Duration, _ tolerance: SeekRequest.Tolerance) -> Landing {
        item?.syncSamples.landing(for: target) { tolerance.allows($0, for: target) && isBuffered($0) }.map(Landing.sync)
            ?? .exact(target)
    }

    private func unbufferedLanding(
        for request: SeekRequest, at target: Duration, in tracker: PlaylistTracker
    ) -> Landing {
        if request.tolerance.isZero { return .exact(target) }
        guard request.tolerance.isUnlimited else { return .undecided(near: target) }
        guard let index = tracker.index(containing: target), tracker.starts[index] >= .zero else {
            return .exact(target)
        }
        return .segmentStart(tracker.starts[index])
    }

    /// The media at the target of a seek is there: where it may land is known.
    private mutating func decideLanding(near target: Duration) {
        guard let request = item?.seek.request else { return }
        let landing = bufferedLanding(at: target, request.tolerance)
        effects.append(.reposition(to: landing))
        movePlayhead(to: landing)
        updateBuffer()
    }

    mutating func movePlayhead(to landing: Landing) {
        item?.seek.land(on: landing)
        setTimebase(TimebaseState(itemTime: landing.time, hostTime: now, rate: timebase.rate), jump: landing.time)
        noteMove(to: landing.time)
    }

    /// The target lies where there is no media: nothing is to be decoded.
    private var isInGap: Bool {
        let playhead = playhead
        return buffer.timeAfterGaps(at: playhead) > playhead
    }

    private func isBuffered(_ target: Duration) -> Bool {
        // Where nothing is kept that outputs have taken, it would have to be given to them again.
        guard keepsPresented, item?.trick == nil, !isLoadingForLate, target >= .zero else { return false }
        let end = effectiveEnd ?? .seconds(Int64.max)
        return buffer.loadedTimeRanges().contains { range in
            (range.contains(target) || target == end && target == range.upperBound)
                && min(target + configuration.buffering.stallEpsilon, end) <= range.upperBound
        }
    }

    // MARK: Media

    /// Presents from `landing` on what is loaded.
    private mutating func present(from landing: Landing) {
        for id in LaneID.allCases { item?.lanes[id]?.drain(nil) }
        forgetEnd()
        effects.append(.reposition(to: landing))
        rejoinSubtitles(at: landing.time)
    }

    /// What was found out at the end before counts no longer.
    private mutating func forgetEnd() {
        item?.end.jump()
    }

    /// Forgets what is loaded, and loads from `landing` on.
    mutating func restartLoading(at landing: Landing) {
        if item?.loadsAudioOfVariant == true { keepAudioOfVariant() }
        for id in LaneID.allCases { endLate(id) }
        forgetEnd()
        guard let item else { return }
        let target = landing.time
        for old in item.lanes.values {
            for flight in old.segments.reversed() { cancel(flight) }
            let id = old.id
            let index = old.tracker.flatMap { $0.index(containing: max(target, $0.start)) }
            if let tracker = old.tracker, let index {
                // A lane whose list begins later has a hole there that nothing fills.
                self.item?.lanes[id]?.begin(
                    .jump(loadedEnd: min(tracker.starts[index], target)), at: .position(tracker.position(at: index)))
            } else {
                self.item?.lanes[id]?.begin(.jump(loadedEnd: target), at: .time(target))
            }
            buffer.removeAll(in: id.bufferTrack)
            cancelUnneededResources(of: id)
            guard old.isComplete else { continue }
            effects.append(.reopenLane(id))
            followPlaylist(of: id)
        }
        self.item?.syncSamples.removeAll()
        self.item?.startWindow = landing.floor
        self.item?.extent.reopen()
        self.item?.variants.decideAgain()
        report.jump()
        self.item?.trick?.move(to: target)
        effects.append(.flush(to: landing, isReverse: item.trick?.isReverse ?? false))
    }
}

extension PlaylistTracker {
    /// The item time that bears this date; nil where none does.
    func time(of date: PlaylistDate) -> Duration? {
        for (index, segment) in playlist.segments.enumerated() {
            guard let start = segment.derivedProgramDateTime else { continue }
            let offset = date - start
            if offset >= .zero, offset < duration(at: index) { return starts[index] + offset }
        }
        return nil
    }
}
