import HLSKitSelection
import HLSKitTime

/// Points of the item that are reported when the playhead reaches them.
///
/// These are date ranges and splice markers of the playlist, and metadata in the media.
extension PlaybackEngine {
    mutating func readPassages() {
        readDateRanges()
        // I-frame playlists may have no markers.
        guard item?.trick == nil, let tracker = item?.mainTracker,
            item?.spliceMarkers.isAffected(by: tracker) == true
        else { return }
        item?.spliceMarkers.read(tracker)
    }

    mutating func take(_ group: TimedMetadataGroup, of segment: SegmentID) {
        guard item?.trick == nil, item?.lanes[segment.lane]?.segments.firstIndex(of: segment) != nil,
            let time = group.timeRange.start.duration
        else { return }
        let playhead = playhead
        item?.metadata.take(group, at: time, playhead: playhead)
    }

    mutating func checkPassages() {
        checkDateRanges()
        guard hasPoints, item?.isReady == true, let start = item?.start, item?.error == nil,
            item?.seek.isUnderWay == false
        else {
            return
        }
        let playhead = playhead
        if item?.spliceMarkers.isDue(at: playhead) == true {
            for event in item?.spliceMarkers.advance(to: playhead, from: start) ?? [] {
                effects.append(.publish(.spliceMarker(event.marker, at: MediaTime(event.time))))
            }
        }
        if item?.metadata.isDue(at: playhead) == true {
            for group in item?.metadata.advance(to: playhead, from: start) ?? [] {
                effects.append(.publish(.timedMetadata(group)))
            }
        }
    }

    private var hasPoints: Bool {
        // Not inlined for the same reason as `outlook`.
        @inline(never) get { item?.spliceMarkers.isEmpty == false || item?.metadata.isEmpty == false }
    }

    mutating func jumpPassages(to time: Duration) {
        item?.dateRanges.jump()
        item?.spliceMarkers.jump(to: time)
        item?.metadata.jump(to: time)
    }

    /// The host time at which the playhead will reach the next point.
    var nextPassageMoment: Duration? {
        guard hasPoints, timebase.rate != 0 else { return nextDateRangeMoment }
        let (playhead, isReverse) = (playhead, timebase.rate < 0)
        let points = [
            item?.spliceMarkers.next(from: playhead, isReverse: isReverse),
            item?.metadata.next(from: playhead, isReverse: isReverse),
        ]
        let times = points.map { time in time.flatMap { timebase.hostTime(reaching: $0) } }
        return ([nextDateRangeMoment] + times).compactMap(\.self).min()
    }
}

// MARK: - Date ranges

extension PlaybackEngine {
    mutating func readDateRanges() {
        // I-frame playlists may have no date ranges.
        guard item?.trick == nil, let tracker = item?.mainTracker else { return }
        report(item?.dateRanges.read(tracker) ?? [])
    }

    mutating func checkDateRanges() {
        guard item?.dateRanges.isEmpty == false, item?.isReady == true, item?.start != nil, item?.error == nil,
            item?.seek.isUnderWay == false, !machine.isInterstitialRunning
        else { return }
        let playhead = playhead
        report(item?.dateRanges.advance(to: playhead) ?? [])
    }

    /// The host time at which the playhead will reach the next date range.
    var nextDateRangeMoment: Duration? {
        guard let ranges = item?.dateRanges, !ranges.isEmpty, timebase.rate != 0,
            let time = ranges.next(from: playhead, isReverse: timebase.rate < 0)
        else { return nil }
        return timebase.hostTime(reaching: time)
    }

    private mutating func report(_ events: [DateRangePassage.Event]) {
        for event in events { effects.append(.publish(.dateRange(event.phase, event.group))) }
    }
}
