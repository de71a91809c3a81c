import HLSPlaylist

/// What a live window takes away from an item that does not keep up with it.
///
/// See docs/loading.md; R44, M04.
extension PlaybackEngine {
    // MARK: What is gone

    /// What a lane does not load any more.
    struct MissedSegments {
        /// Segments that are not listed any more.
        var gone: Int
        /// The first of it that is listed, and the one to go on with.
        var next: Int
        var index: Int
    }

    /// What the window has taken from a lane whose list is `tracker` now; nil where it goes on as before.
    mutating func missed(by lane: MediaLane, in tracker: PlaylistTracker) -> MissedSegments? {
        guard tracker.segmentCount > 0 else { return nil }
        let first = tracker.playlist.mediaSequence
        if !lastVerdict.isEmpty { item?.windowLoss.noteMedia() }
        let index = lane.id == .subtitles ? 0 : oldestWanted(tracker)
        // Of what it passes over, segments that are not listed any more, and the first that is.
        var gone = 0
        var next = 0
        switch lane.cursor {
        case .position(let wanted):
            guard wanted.epoch == tracker.epoch else { return nil }
            gone = max(0, first - wanted.sequence)
            next = max(0, wanted.sequence - first)
        case .time(let time) where tracker.start - time > configuration.buffering.maxGapJump:
            gone = max(1, Int(((tracker.start - time) / tracker.pacingTarget).rounded()))
        case .time(let time): next = tracker.index(containing: time) ?? tracker.segmentCount
        case nil: return nil
        }
        guard gone > 0 || item?.windowLoss.isLate == true && next < index else { return nil }
        return MissedSegments(gone: gone, next: next, index: index)
    }

    /// Fails where the policy says that a lane is not to fall behind. False where it may.
    mutating func failsBehind(_ missed: MissedSegments, in id: LaneID, url: String) -> Bool {
        guard preferences.fellBehindPolicy == .fail, id != .subtitles else { return false }
        failWhenPlayed(
            PlayerError(
                code: .staleLive, url: url, cause: "playback fell behind the live window",
                detail: "\(missed.gone) segments are gone"))
        return true
    }

    /// Goes on behind what was missed. It takes no time: everything that is listed moves up to where the lane would have
    /// gone on, `resumeTime`, or the lane that is farthest. The other lanes leave out the same, so that they stay side by
    /// side.
    mutating func skip(_ missed: MissedSegments, in id: LaneID, resumeTime: Duration, url: String) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        let (gone, next, index) = (missed.gone, missed.next, missed.index)
        let first = tracker.playlist.mediaSequence
        let count = gone + index - next
        let duration = tracker.pacingTarget * gone + tracker.starts[index] - tracker.starts[next]
        if index > 0 { item?.windowLoss.jumpToEdge() }
        item?.lanes[id]?.begin(.hole, at: .position(tracker.position(at: index)))
        item?.timelines.closeUp()
        var resume = resumeTime
        for other in [LaneID.main, .audio] where other != id {
            guard let lane = item?.lanes[other], let tracker = lane.tracker, lane.cursor != nil else { continue }
            resume = max(resume, lane.resumeTime(in: tracker))
        }
        let hole = tracker.starts[index] - resume
        if hole > .zero {
            item?.lanes[id]?.playlist.shift(by: .zero - hole)
            for other in LaneID.allCases where other != id { shift(other, by: .zero - hole, resumingAt: resume) }
            item?.previousTracker?.shift(by: .zero - hole)
        }
        guard id != .subtitles else { return }
        let isPaused = machine.rate == 0
        item?.windowLoss.leaveBehind(isPaused: isPaused)
        note(
            SkippedSegments(
                first: first + index - count, last: first + index - 1, mediaDuration: duration, url: url,
                cause: "the live window moved on"))
    }

    /// The segment to go on with after the window moved on. Who goes on at the edge does so until there is media.
    private func oldestWanted(_ tracker: PlaylistTracker) -> Int {
        // R44: while there is something to play, least is lost by going on with the oldest.
        guard preferences.fellBehindPolicy == .jumpToEdge, configuration.pacing == .realTime, tracker.isLive,
            lastVerdict.isEmpty, timeControl.hasPlayed
        else { return 0 }
        return tracker.index(containing: max(tracker.start, tracker.end - liveOffset(of: tracker))) ?? 0
    }

    /// Moves what a lane has not loaded yet on the item's timeline.
    private mutating func shift(_ id: LaneID, by distance: Duration, resumingAt time: Duration) {
        guard item?.lanes[id]?.tracker != nil else { return }
        item?.lanes[id]?.playlist.shift(by: distance)
        let hasPlace = item?.lanes[id]?.cursor != nil
        item?.lanes[id]?.begin(.elsewhere, at: hasPlace ? .time(time) : nil)
    }

    /// Counts what is lost. It is told at once, but what goes while the player is paused, reload by reload, when it plays.
    private mutating func note(_ missed: SkippedSegments) {
        statistics.numberOfSkippedSegments += missed.last - missed.first + 1
        statistics.skippedDuration += missed.mediaDuration.seconds
        if let earlier = item?.windowLoss.hold(missed) { effects.append(.publish(.segmentsMissed(earlier))) }
        if machine.rate != 0 { tellMissed() }
    }

    private mutating func tellMissed() {
        guard let missed = item?.windowLoss.take() else { return }
        effects.append(.publish(.segmentsMissed(missed)))
    }

    // MARK: Going on

    /// Goes on where the policy says, if the window left the playhead behind while the player rested. Called when it is
    /// to play, and with each change of the window: the first one after a rest tells what went meanwhile.
    mutating func catchUp() {
        guard machine.rate != 0 else { return }
        item?.windowLoss.endRest()
        resume()
    }

    /// The player is about to play.
    mutating func resume() {
        guard item?.windowLoss.isLeftBehind == true else { return tellMissed() }
        item?.windowLoss.moveOn()
        guard preferences.fellBehindPolicy == .jumpToEdge, configuration.pacing == .realTime, item?.error == nil,
            item?.pendingFailure == nil, let lane = item?.lanes[.main], let tracker = lane.tracker, tracker.isLive
        else { return tellMissed() }
        let landing = tracker.index(containing: max(tracker.start, tracker.end - liveOffset(of: tracker))) ?? 0
        if let next = lane.nextIndex, next < landing {
            note(
                SkippedSegments(
                    first: tracker.playlist.mediaSequence + next, last: tracker.playlist.mediaSequence + landing - 1,
                    mediaDuration: tracker.starts[landing] - tracker.starts[next], url: tracker.url,
                    cause: "the live window moved on"))
        }
        tellMissed()
        effects.append(.seekBegan)
        seek(SeekRequest(destination: .edge, tolerance: .unlimited))
    }
}
