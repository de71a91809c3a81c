import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    mutating func checkEnd() {
        if item?.trick != nil { return checkTrickEnd() }
        refreshOutlook()
        guard knownOutlook?.mayEnd == true, let facts = endFacts, let actions = item?.end.check(facts, at: now)
        else { return }
        for action in actions {
            switch action {
            case .fail(let error): failItem(error)
            case .failAtLast(let error):
                item?.failure.endPlaying()
                failItem(error)
            case .cut: cutLanes()
            case .wait(let time):
                item?.end.wait(until: time)
                effects.append(.arm(.lastFrame, at: time))
            case .end:
                let isAtBreak = item.map { $0.breakPoint.isReached(before: $0.endTime.time) } ?? false
                if isAtBreak { effects.append(.breakReached) } else { run(.reachedEnd) }
            }
        }
    }

    private var endFacts: EndOfItem.Facts? {
        let (isPaced, playhead) = (configuration.pacing == .realTime, playhead)
        let (time, hasSkipped) = (isPaced ? playhead : nil, statistics.numberOfSkippedSegments > 0)
        guard var facts = item.map({ EndOfItem.Facts($0, playhead: time, hasSkipped: hasSkipped) }) else { return nil }
        facts.isAtEnd = effectiveEnd.map { playhead >= $0 || !isPaced } ?? false
        facts.mayEnd = machine.status == .playing && item?.seek.isUnderWay == false && !awaitsSubtitles
        facts.awaitsOutputs = configuration.seeksAwaitOutputs
        return facts
    }

    /// Without pacing, media ends long before its subtitles are loaded. The end therefore waits for all listed
    /// subtitles.
    var awaitsSubtitles: Bool {
        configuration.pacing == .unpaced && item?.lanes[.subtitles]?.hasMore(before: effectiveEnd) == true
    }
}

extension EndOfItem.Facts {
    /// Collects the facts that depend on the item alone.
    ///
    /// - Parameter playhead: The playhead, or `nil` if media is not presented in real time.
    fileprivate init(_ item: borrowing ItemState, playhead: Duration?, hasSkipped: Bool) {
        isComplete = item.isComplete
        isDrained = item.isDrained
        hasPresentable = item.hasPresentable
        pendingFailure = item.pendingFailure
        if isComplete, pendingFailure == nil {
            missing = item.contents.missingFailure(of: item.url, hasSkipped: hasSkipped)
        }
        if let playhead {
            isAtFailure = item.failsAt.map { playhead >= $0 } ?? false
            isAtEndTime = item.forwardEnd.map { playhead >= $0 } ?? false
        }
        if let last = item.contents.lastLoss, item.requiredLanes.contains(where: { $0.run().count > 1 }) { loss = last }
    }
}

extension MediaLane {
    /// Whether more media before `end` may have to be loaded. If `end` is `nil`, all media counts.
    fileprivate func hasMore(before end: Duration?) -> Bool {
        if isComplete { return false }
        guard let index = nextIndex, let tracker else { return !segments.isEmpty || tracker == nil }
        return end.map { tracker.starts[index] < $0 } ?? true
    }
}
