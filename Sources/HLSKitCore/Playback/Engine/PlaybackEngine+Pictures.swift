/// Getting pictures ready before time runs, going through them one by one, and loading them anew from another variant.
///
/// See docs/behaviour/seeking.md.
extension PlaybackEngine {
    // MARK: Preroll

    /// Waits until media at the playhead is decoded.
    mutating func preroll() {
        endPreroll(finished: false)
        guard item?.isReady == true, item?.error == nil, machine.rate == 0, item?.seek.isUnderWay == false else {
            effects.append(.prerollEnded(finished: false))
            return
        }
        item?.seek.beginPreroll()
    }

    mutating func endPreroll(finished: Bool) {
        guard item?.seek.isPrerolling == true else { return }
        item?.seek.endPreroll()
        effects.append(.prerollEnded(finished: finished))
    }

    /// Asks the outputs, once there is something to decode. Who plays does not wait any more.
    mutating func checkPreroll() {
        guard item?.seek.isPrerolling == true else { return }
        guard machine.rate == 0 else { return endPreroll(finished: false) }
        guard item?.seek.prerollWaitsForMedia == true, !lastVerdict.isEmpty else { return }
        guard configuration.seeksAwaitOutputs else { return endPreroll(finished: true) }
        let number = prime()
        item?.seek.askForPreroll(number)
    }

    // MARK: Steps

    /// Goes through pictures while time stands still. Outputs know where they are.
    mutating func step(_ count: Int) {
        guard count != 0, machine.rate == 0, item?.isReady == true, item?.hasPictures == true else { return }
        effects.append(.step(count, from: playhead))
    }

    mutating func noteSyncSamples(_ times: [Duration]) {
        item?.syncSamples.insert(times)
        if item?.hasPictures == false { item?.hasPictures = true }
    }

    // MARK: Pinning

    /// Drops what is loaded from another variant than the one that was pinned, but for a segment after the one that is
    /// played.
    mutating func flushForPin() {
        guard case .pinned(let index, flush: true) = preferences.variantPolicy, let item, item.variantIndex != index,
            item.candidates.contains(where: { $0.index == index })
        else { return }
        dropAhead()
    }

    /// Drops what is loaded of the variant, but for a segment after the one that is played.
    mutating func dropAhead() {
        guard let item, item.trick == nil, item.start != nil, item.error == nil, item.pendingFailure == nil,
            let lane = item.lanes[.main],
            let tracker = lane.tracker,
            let playing = tracker.index(containing: max(playhead, tracker.start)), playing + 2 < tracker.segmentCount
        else { return }
        let end = tracker.starts[playing + 2]
        guard lane.segments.contains(where: { $0.job.start >= end }) || lane.loadedEnd.map({ $0 > end }) == true else {
            return
        }
        let beyond = self.item?.lanes[.main]?.segments.remove { $0.job.start >= end } ?? []
        for flight in beyond.reversed() { cancel(flight) }
        let wasComplete = self.item?.lanes[.main]?.begin(.cut(end), at: .time(end)) ?? false
        self.item?.extent.reopen()
        self.item?.variants.decideAgain()
        self.item?.syncSamples.removeAll(from: end)
        buffer.removeMedia(from: end, in: .video)
        effects.append(.truncate(.main, from: end))
        guard wasComplete else { return }
        buffer.markEnd(of: .video, false)
        effects.append(.reopenLane(.main))
        followPlaylist(of: .main)
    }
}
