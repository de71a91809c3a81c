import HLSKitTime

/// Date ranges of the playlist, reported as ``DateRangePassage`` decides.
extension PlaybackEngine {
    /// Called when the variant's playlist, or an update of it, arrives.
    mutating func readDateRanges() {
        // I-frame playlists may have no date ranges.
        guard item?.trick == nil, let tracker = item?.mainTracker else { return }
        tell(item?.dateRanges.read(tracker) ?? [])
    }

    /// Reports the date ranges that the playhead has reached.
    mutating func checkDateRanges() {
        guard item?.dateRanges.isEmpty == false, item?.isReady == true, item?.start != nil, item?.error == nil,
            item?.seek.isUnderWay == false, !machine.isInterstitialRunning
        else { return }
        let playhead = playhead
        tell(item?.dateRanges.advance(to: playhead) ?? [])
    }

    /// The host time at which the playhead will reach the next date range.
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
