import HLSKitTime

/// Date ranges of the playlist, as ``DateRangePassage`` tells of them.
///
/// See docs/behaviour/outputs.md.
extension PlaybackEngine {
    /// The playlist of the variant has come, or a newer state of it.
    mutating func readDateRanges() {
        // Lists of I-frames may be without.
        guard item?.trick == nil, let tracker = item?.mainTracker else { return }
        tell(item?.dateRanges.read(tracker) ?? [])
    }

    /// Tells what the playhead has come to.
    mutating func checkDateRanges() {
        guard item?.dateRanges.isEmpty == false, item?.isReady == true, item?.start != nil, item?.error == nil,
            item?.seek.isUnderWay == false, !machine.isInterstitialRunning
        else { return }
        let playhead = playhead
        tell(item?.dateRanges.advance(to: playhead) ?? [])
    }

    /// When time alone brings the playhead to something that is to be told.
    var nextDateRangeMoment: Duration? {
        guard let ranges = item?.dateRanges, !ranges.isEmpty, timebase.rate != 0,
            let time = ranges.next(from: playhead, isReverse: timebase.rate < 0)
        else { return nil }
        return timebase.hostTime(reaching: time)
    }

    private mutating func tell(_ events: [DateRangePassage.Event]) {
        for event in events { effects.append(.publish(.dateRange(event.phase, event.group))) }
    }
}
