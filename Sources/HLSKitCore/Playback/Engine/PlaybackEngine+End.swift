import HLSPlaylist

/// The end of the item, as ``EndOfItem`` decides it.
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
                effects.append(.arm(.lastPicture, at: time))
            case .end: run(machine.handle(.reachedEnd))
            }
        }
    }

    private var endFacts: EndOfItem.Facts? {
        guard let item else { return nil }
        let (isPaced, playhead) = (configuration.pacing == .realTime, playhead)
        var facts = EndOfItem.Facts()
        facts.isComplete = item.isComplete
        facts.isDrained = item.isDrained
        facts.hasPresentable = item.hasPresentable
        facts.pendingFailure = item.pendingFailure
        if facts.isComplete, facts.pendingFailure == nil {
            facts.missing = item.contents.whatIsMissing(
                of: item.url, hasSkipped: statistics.numberOfSkippedSegments > 0)
        }
        facts.isAtFailure = isPaced && item.failsAt.map { playhead >= $0 } ?? false
        facts.isAtEndTime = isPaced && item.forwardEnd.map { playhead >= $0 } ?? false
        facts.isAtEnd = effectiveEnd.map { playhead >= $0 || !isPaced } ?? false
        facts.mayEnd = machine.status == .playing && !item.seek.isUnderWay && !awaitsSubtitles
        if let loss = item.contents.lastLoss, item.requiredLanes.contains(where: { $0.run().count > 1 }) {
            facts.loss = loss
        }
        facts.awaitsOutputs = configuration.seeksAwaitOutputs
        return facts
    }

    /// Without pacing, media is over long before its subtitles are loaded: the end waits for those that are listed.
    var awaitsSubtitles: Bool {
        guard configuration.pacing == .unpaced, let lane = item?.lanes[.subtitles], !lane.isComplete else {
            return false
        }
        guard let index = lane.nextIndex, let tracker = lane.tracker else {
            return !lane.segments.isEmpty || lane.tracker == nil
        }
        return effectiveEnd.map { tracker.starts[index] < $0 } ?? true
    }
}
